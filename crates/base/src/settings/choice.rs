//! Settings that are a choice among names.

/// Declares an enum whose variants have a name and a line of help each, and makes it a type for settings and files: `ALL`,
/// `name()`, `from_name()`, `help()`. The help is the documentation of the variant, after which more may follow. The first
/// variant is the default. A name may be followed by an older one that is still accepted: `Back = "back" | "return"`.
/// Outside of its crate, matches on the enum need a `_`, because variants may be added.
///
/// ```
/// manyview_base::named! {
///     /// What a walk does at a dead end.
///     pub enum DeadEnd {
///         Stop = "stop", "the walk ends";
///         Back = "back", "it returns to the node that it came from";
///     }
/// }
/// assert_eq!(DeadEnd::from_name("back"), Some(DeadEnd::Back));
/// assert_eq!(DeadEnd::default().help(), "the walk ends");
/// ```
#[macro_export]
macro_rules! named {
    (
        $(#[$meta:meta])*
        $visible:vis enum $type:ident {
            $($(#[$more:meta])* $variant:ident = $name:literal $(| $older:literal)?, $help:literal;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        $visible enum $type {
            $(#[doc = $help] #[doc = "\n"] $(#[$more])* $variant,)*
        }

        impl Default for $type {
            fn default() -> Self {
                Self::ALL[0]
            }
        }

        impl $type {
            /// All choices.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// The name of the choice.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The choice of that name, or of that older name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name $(| $older)? => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// What the choice means, in a few words.
            pub fn help(self) -> &'static str {
                match self { $(Self::$variant => $help),* }
            }
        }

        impl $crate::settings::SettingValue for $type {
            fn kind() -> $crate::settings::Kind {
                $crate::settings::Kind::Choice(&[$($crate::settings::Choice {
                    name: $name,
                    help: $help,
                    older: &[$($older)?],
                }),*])
            }

            fn from_json(value: &$crate::serde_json::Value) -> Option<Self> {
                Self::from_name(value.as_str()?)
            }

            fn to_json(&self) -> $crate::serde_json::Value {
                self.name().into()
            }
        }

        impl $crate::serde::Serialize for $type {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                $crate::serde::Serializer::serialize_str(serializer, self.name())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> std::result::Result<Self, D::Error> {
                let name = <String as $crate::serde::Deserialize>::deserialize(deserializer)?;
                let unknown = || <D::Error as $crate::serde::de::Error>::unknown_variant(&name, &[$($name),*]);
                Self::from_name(&name).ok_or_else(unknown)
            }
        }
    };
}
