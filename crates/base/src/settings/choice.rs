//! Settings that are a choice among names.

/// Declares an enum whose variants have a name and a line of help each, and makes it a type for settings and files: `ALL`,
/// `name()`, `from_name()`, `help()`. The help is the documentation of the variant, after which more may follow. The first
/// variant is the default.
///
/// ```
/// manyview_base::named! {
///     /// Where a walk that cannot go on goes.
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
            $($(#[$more:meta])* $variant:ident = $name:literal, $help:literal;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

            /// The choice of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|choice| choice.name() == name)
            }

            /// What the choice means, in a few words.
            pub fn help(self) -> &'static str {
                match self { $(Self::$variant => $help),* }
            }
        }

        impl $crate::settings::SettingValue for $type {
            fn kind() -> $crate::settings::Kind {
                $crate::settings::Kind::Choice(&[$(($name, $help)),*])
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
