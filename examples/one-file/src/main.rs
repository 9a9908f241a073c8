//! An operator in one file: it publishes each Note as a ConfigMap.

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::{apply::core_v1::ConfigMapApply, codegen, fake, prelude::*};

#[derive(Clone, Debug, Default, PartialEq, ApiObject)]
#[genclient]
#[k8s(subresource(status))]
pub struct Note {
    pub metadata: ObjectMeta,
    pub spec: NoteSpec,
    pub status: Option<NoteStatus>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct NoteSpec {
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, ApiType)]
pub struct NoteStatus {
    pub conditions: Option<Vec<Condition>>,
}

kubewright::group_version! { group = "notes.example.com", version = "v1", kinds = [Note] }

async fn reconcile(note: Arc<Note>, ctx: ReconcileContext) -> Result<(), ReconcileError> {
    let data = [("text".to_owned(), note.spec.text.clone())];
    ctx.apply_owned(&*note, ConfigMapApply::new(ctx.key().name(), ctx.key().namespace()).with_data(data)).await?;
    let ready = new_condition(&note.metadata, "Ready", true, "Published", "the ConfigMap contains the text");
    if ctx.update_status(&*note, |note| note.status.get_or_insert_default().conditions.set_condition(ready)).await? {
        ctx.event(&*note, "Published", "published as a ConfigMap");
    }
    Ok(())
}

fn operator() -> Operator {
    Operator::new("note-operator").definitions_from(|| codegen::definitions(&[API_GROUP])).controller(|setup| {
        setup.controller::<Note>("notes").owns(&setup.informer::<ConfigMap>()).reconcile(reconcile).build()
    })
}

fn main() -> ExitCode {
    operator().embedded(fake::serve::embedded).main()
}

#[cfg(test)]
mod tests;
