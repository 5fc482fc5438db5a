//! The registration of policies. One line per member gives its configuration name, its variant in
//! the dispatch enum, and its manual entry.

/// A member's entry in the manual.
pub struct MemberDoc {
    /// The name in configurations.
    pub name: &'static str,
    /// The member's source file, whose leading `//!` comment is the manual text.
    pub source: &'static str,
}

impl MemberDoc {
    /// The leading `//!` comment of the member's file, as Markdown.
    pub fn manual(&self) -> String {
        let lines = self.source.lines().take_while(|l| l.starts_with("//!"));
        lines.map(|l| l.strip_prefix("//! ").unwrap_or(&l[3..])).collect::<Vec<_>>().join("\n")
    }

    /// The first paragraph of the manual, on one line.
    pub fn title(&self) -> String {
        self.manual().split("\n\n").next().unwrap_or_default().replace('\n', " ")
    }
}

/// Define a family: its configuration enum (a bare member name, or `{ member = { … } }`),
/// its dispatch enum, and the list of members.
///
/// `neutral` names the member that changes nothing, if there is one. A configuration that does not
/// mention the family gets this member.
///
/// The methods under `answers` take `&self`: their results depend only on the view and on the
/// parameters of the member. Those under `changes` take `&mut self`: they may change the member's
/// state.
///
/// `outside` adds a variant that is no member: decisions that the program around the drive takes (see
/// [`super::outside`]). A configuration cannot choose it.
///
/// Each member `m` is a sibling module with `m::Config` (serde, `Default`) and
/// `m::Policy`, which has `fn new(&Config, &$ctx) -> Result<Self, String>` and
/// implements the family's trait.
macro_rules! family {
    (
        key: $key:literal,
        decides: $decides:literal,
        config: $config:ident,
        policy: $policy:ident: $trait:ident,
        context: $ctx:ty,
        $(neutral: $neutral:ident $neutral_name:literal,)?
        members: { $( $module:ident $variant:ident $name:literal ),+ $(,)? }
        $(outside: { $out_module:ident $out_variant:ident $out_name:literal, })?
        answers: $answers:tt
        $($changes:tt)*
    ) => {
        #[doc = $decides]
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        pub enum $config {
            $(
                #[doc = concat!("`", $name, "`")]
                #[serde(rename = $name)]
                $variant($module::Config),
            )+
            $(
                #[doc = concat!("`", $out_name, "`: the program around the drive decides.")]
                #[serde(rename = $out_name)]
                $out_variant($out_module::Config),
            )?
        }

        impl $config {
            /// The member names, as configurations write them.
            pub const MEMBERS: &'static [&'static str] = &[$($name),+];
            /// The family's manual entry.
            pub const DOC: $crate::policy::FamilyDoc = $crate::policy::FamilyDoc {
                name: $key,
                decides: $decides,
                members: &[$($crate::policy::MemberDoc {
                    name: $name,
                    source: include_str!(concat!(stringify!($module), ".rs")),
                }),+],
                neutral: [$(Some($neutral_name),)? None][0],
                source: include_str!("mod.rs"),
            };

            /// The chosen member's name.
            pub fn name(&self) -> &'static str {
                match self { $( Self::$variant(_) => $name, )+ $( Self::$out_variant(_) => $out_name, )? }
            }
        }

        $(
            /// The member that changes nothing; a configuration that names no member gets it.
            impl Default for $config {
                fn default() -> Self {
                    Self::$neutral(Default::default())
                }
            }
        )?

        impl<'de> serde::Deserialize<'de> for $config {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct Visit;
                impl<'de> serde::de::Visitor<'de> for Visit {
                    type Value = $config;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        write!(f, "a member of {} ({}), bare or as {{ member = {{ … }} }}",
                            $key, $config::MEMBERS.join(", "))
                    }
                    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<$config, E> {
                        match name {
                            $( $name => Ok($config::$variant(<$module::Config as Default>::default())), )+
                            $( $out_name => Ok($config::$out_variant(<$out_module::Config as Default>::default())), )?
                            _ => Err(E::unknown_variant(name, $config::MEMBERS)),
                        }
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$config, A::Error> {
                        use serde::de::Error;
                        let Some(name) = map.next_key::<String>()? else {
                            return Err(A::Error::custom(concat!("an empty table names no member of ", $key)));
                        };
                        let value = match name.as_str() {
                            $( $name => $config::$variant(map.next_value::<$module::Config>()?), )+
                            $( $out_name => $config::$out_variant(map.next_value::<$out_module::Config>()?), )?
                            _ => return Err(A::Error::unknown_variant(&name, $config::MEMBERS)),
                        };
                        if let Some(second) = map.next_key::<String>()? {
                            return Err(A::Error::custom(format!(
                                concat!($key, " takes one member, but both {} and {} are given"), name, second)));
                        }
                        Ok(value)
                    }
                }
                d.deserialize_any(Visit)
            }
        }

        /// The chosen member with its state; dispatch is a `match`.
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        #[allow(missing_docs)]
        pub enum $policy { $( $variant($module::Policy), )+ $( $out_variant($out_module::Policy), )? }

        impl $policy {
            /// Build the configured member; an error says why the configuration is not valid.
            pub fn new(config: &$config, context: &$ctx) -> Result<Self, String> {
                Ok(match config {
                    $( $config::$variant(c) => Self::$variant($module::Policy::new(c, context)?), )+
                    $( $config::$out_variant(c) => Self::$out_variant(c.open()?), )?
                })
            }
        }

        family!(@methods $policy $trait { $($variant)+ $($out_variant)? } shared $answers);
        family!(@changes $policy $trait { $($variant)+ $($out_variant)? } $($changes)*);
    };
    (@changes $policy:ident $trait:ident $variants:tt) => {};
    (@changes $policy:ident $trait:ident $variants:tt changes: $methods:tt) => {
        family!(@methods $policy $trait $variants exclusive $methods);
    };
    (@methods $policy:ident $trait:ident $variants:tt $access:tt {
        $( fn $method:ident $args:tt $(-> $ret:ty)? ; )*
    }) => {
        impl $policy {
            $( family!(@method $policy $trait $variants $access $method $args $(-> $ret)?); )*
        }
    };
    (@method $policy:ident $trait:ident $variants:tt shared $method:ident
        ($($arg:ident : $ty:ty),*) $(-> $ret:ty)?) => {
        /// See the family's trait.
        #[inline]
        pub fn $method(&self $(, $arg: $ty)*) $(-> $ret)? {
            family!(@match self $policy $trait $variants $method ($($arg),*))
        }
    };
    (@method $policy:ident $trait:ident $variants:tt exclusive $method:ident
        ($($arg:ident : $ty:ty),*) $(-> $ret:ty)?) => {
        /// See the family's trait.
        #[inline]
        pub fn $method(&mut self $(, $arg: $ty)*) $(-> $ret)? {
            family!(@match self $policy $trait $variants $method ($($arg),*))
        }
    };
    (@match $self:ident $policy:ident $trait:ident { $($variant:ident)+ } $method:ident $args:tt) => {
        match $self { $( $policy::$variant(p) => family!(@call $trait $method p $args), )+ }
    };
    (@call $trait:ident $method:ident $p:ident ($($arg:ident),*)) => { $trait::$method($p $(, $arg)*) };
}

/// The `Config` and `Policy` of a member that has neither parameters nor state.
macro_rules! parameterless {
    () => {
        /// No parameters.
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Config {}

        /// No state.
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        pub struct Policy;

        impl Policy {
            /// Never fails.
            pub fn new(_: &Config, _: &$crate::policy::PolicyContext) -> Result<Policy, String> {
                Ok(Policy)
            }
        }
    };
}
