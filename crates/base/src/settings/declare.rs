//! The declaration of a struct of settings.

/// Declares a struct of settings: fields with help (the doc comment), type, default and details
/// ([`Details`](crate::settings::Details)), then groups of settings that it shares with other structs.
///
/// ```
/// manyview_base::settings! {
///     /// Settings of walks.
///     pub struct Walks {
///         /// The number of walks from each node.
///         walks: usize = 10 => at_least(1.0);
///         /// Whether edges are drawn by weight.
///         weighted: bool = false;
///     }
/// }
/// assert_eq!(Walks::default().walks, 10);
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[$meta:meta])*
        $visible:vis struct $name:ident {
            $(
                $(#[doc = $help:literal])+
                $field:ident: $type:ty = $default:expr $(=> $($detail:ident($($argument:expr),*)).+)?;
            )*
        } $(with {
            $($(#[doc = $about:literal])+ $group:ident: $group_type:ty = $group_default:expr;)*
        })?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        $visible struct $name {
            $($(#[doc = $help])+ pub $field: $type,)*
            $($($(#[doc = $about])+ #[serde(flatten)] pub $group: $group_type,)*)?
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* $($($group: $group_default,)*)? }
            }
        }

        impl $crate::settings::Settings for $name {
            fn describe(&self) -> Vec<$crate::settings::Setting> {
                #[allow(unused_mut, reason = "a struct may have no groups")]
                let mut list = vec![$({
                    let details = $crate::settings::Details::default()$($(.$detail($($argument),*))+)?;
                    $crate::settings::Setting::new(stringify!($field), concat!($($help),+), details, &self.$field)
                }),*];
                $($(list.extend($crate::settings::Settings::describe(&self.$group));)*)?
                list
            }

            fn set(
                &mut self,
                name: &str,
                value: &$crate::serde_json::Value,
            ) -> $crate::error::Result<bool> {
                $(if name == stringify!($field) {
                    let details = $crate::settings::Details::default()$($(.$detail($($argument),*))+)?;
                    self.$field = $crate::settings::read(name, value, &details)?;
                    return Ok(true);
                })*
                $($(if $crate::settings::Settings::set(&mut self.$group, name, value)? {
                    return Ok(true);
                })*)?
                Ok(false)
            }

            fn check_limits(&self) -> $crate::error::Result<()> {
                $({
                    let details = $crate::settings::Details::default()$($(.$detail($($argument),*))+)?;
                    $crate::settings::check(stringify!($field), &self.$field, &details)?;
                })*
                $($($crate::settings::Settings::check_limits(&self.$group)?;)*)?
                Ok(())
            }
        }
    };
}
