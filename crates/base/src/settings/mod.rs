//! Settings that are a choice among names. A name is the same on the command line, in Python and in `run.json`.

/// Gives an enum its names: `ALL`, `name()`, `from_name()`, `help()`, and both ways between files and names.
#[macro_export]
macro_rules! named {
    ($type:ident: $($variant:ident = $name:literal, $help:literal;)*) => {
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

        impl $crate::serde::Serialize for $type {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                $crate::serde::Serializer::serialize_str(serializer, self.name())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let name = <String as $crate::serde::Deserialize>::deserialize(deserializer)?;
                Self::from_name(&name).ok_or_else(|| <D::Error as $crate::serde::de::Error>::unknown_variant(&name, &[$($name),*]))
            }
        }
    };
}
