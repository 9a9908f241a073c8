//! Variants: names, contents, encodings, and variants that only one version has.

use kubewright_core::{
    Convert,
    conversion::{ConversionError, ConvertTo, plan::Conversion},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;

/// Converts a mode of the hub into `v1` and back.
fn mode_there_and_back(mode: &str) -> (Value, Value) {
    let hub = widget(V2, hub_spec(json!({"mode": mode})));
    let shown = convert(&hub, V1);
    let back = convert(&shown, V2);
    (shown["spec"]["mode"].clone(), back["spec"]["mode"].clone())
}

#[test]
fn variants_of_the_hub_are_stored_or_lost() {
    assert_eq!(mode_there_and_back("Memory"), (json!("Memory"), json!("Memory")));
    assert_eq!(mode_there_and_back("Disk"), (json!("File"), json!("Disk")));
    assert_eq!(mode_there_and_back("Replicated"), (json!("Memory"), json!("Replicated")));
    assert_eq!(mode_there_and_back("Quorum"), (json!("Memory"), json!("Memory")));
    assert_eq!(mode_there_and_back("Unknown"), (json!("Unknown"), json!("Unknown")));
}

#[test]
fn variants_of_the_spoke_are_stored() {
    let spoke = widget(V1, spoke_spec(json!({"mode": "Tape", "logLevel": "info"})));
    let mut converted = convert(&spoke, V2);
    assert_eq!(converted["spec"]["mode"], "Disk");
    assert_eq!(convert(&converted, V1), spoke);
    converted["spec"]["mode"] = "Replicated".into();
    assert_eq!(convert(&converted, V1)["spec"]["mode"], "Memory");
}

#[test]
fn contents_are_converted() {
    for (hub, expected) in [
        (json!({"Square": {"side": 3}}), json!({"square": {"width": 3}})),
        (json!({"Circle": {"radius": 4, "filled": true}}), json!({"circle": {"radius": 2}})),
        (json!({"Circle": {"radius": 5}}), json!({"circle": {"radius": 2}})),
        (json!({"Hexagon": {"side": 3}}), json!({"Hexagon": {"side": 3}})),
    ] {
        let object = widget(V2, hub_spec(json!({"shape": hub})));
        let shown = convert(&object, V1);
        assert_eq!(shown["spec"]["shape"], expected);
        assert_eq!(convert(&shown, V2), object);
    }
}

mod tagged {
    use super::*;

    #[derive(Convert, Debug, Deserialize, PartialEq, Serialize)]
    #[serde(tag = "type", rename_all = "camelCase")]
    #[convert(hub)]
    pub enum Sink {
        File { path: String },
        Http(Http),
        None,
    }

    #[derive(Convert, Debug, Deserialize, PartialEq, Serialize)]
    #[convert(hub)]
    pub struct Http {
        pub url: String,
    }

    /// The same in another encoding.
    #[derive(Convert, Debug, Deserialize, PartialEq, Serialize)]
    #[serde(tag = "kind", content = "value")]
    #[convert(hub = Sink)]
    pub enum Target {
        File {
            #[convert(from = "path")]
            name: String,
        },
        #[convert(from = "Http")]
        Url(Url),
        None,
    }

    #[derive(Convert, Debug, Deserialize, PartialEq, Serialize)]
    #[convert(hub = Http)]
    pub struct Url {
        #[convert(from = "url")]
        pub address: String,
    }
}

#[test]
fn encodings_are_converted() {
    use tagged::{Http, Sink, Target, Url};
    assert!(matches!(<Target as ConvertTo<Sink>>::conversion(), Conversion::Enum(_)));
    for (target, sink) in [
        (Target::File { name: "a".to_owned() }, Sink::File { path: "a".to_owned() }),
        (Target::Url(Url { address: "b".to_owned() }), Sink::Http(Http { url: "b".to_owned() })),
        (Target::None, Sink::None),
    ] {
        let json = json!(target);
        assert_eq!(Sink::try_from(target).unwrap(), sink);
        assert_eq!(json!(Target::try_from(sink).unwrap()), json);
    }
}

/// A number that is wider in the hub.
#[derive(Convert, Debug, Deserialize, PartialEq, Serialize)]
#[convert(hub)]
struct Wide(i64);

#[derive(Convert, Debug, Deserialize, PartialEq, Serialize)]
#[convert(hub = Wide)]
struct Narrow(#[convert(store)] i32);

#[test]
fn newtypes_are_converted() {
    assert_eq!(Wide::try_from(Narrow(3)).unwrap(), Wide(3));
    assert_eq!(Narrow::try_from(Wide(-3)).unwrap(), Narrow(-3));
    let error = Narrow::try_from(Wide(i64::MAX)).unwrap_err();
    assert!(matches!(error, ConversionError::DoesNotFit(_)), "{error}");
}
