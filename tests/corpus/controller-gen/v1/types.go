package v1

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A Fleet has a field for each marker.
//
// +kubebuilder:resource:path=fleet,singular=onefleet,shortName=fl;flt,categories=all;twins,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Harbour",type=string,JSONPath=`.spec.harbour`,description="The home harbour",priority=1
// +kubebuilder:printcolumn:name="Ships",type=integer,JSONPath=`.spec.replicas`,format=int32
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:selectablefield:JSONPath=`.spec.harbour`
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep",labels="app=twins"
// +kubebuilder:externalDocs:url="https://example.com/fleets",description="All about fleets"
// +kubebuilder:validation:XValidation:rule="self.metadata.name != self.spec.harbour",message="a fleet is not named after its harbour",fieldPath=".spec.harbour"
type Fleet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The desired state.
	Spec FleetSpec `json:"spec"`
	// The observed state.
	// +optional
	Status FleetStatus `json:"status,omitempty"`
}

// FleetSpec is the desired state of a Fleet.
type FleetSpec struct {
	// The home harbour.
	// +kubebuilder:validation:MaxLength=63
	Harbour string `json:"harbour"`
	// The number of ships.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:default=3
	// +optional
	Replicas int32 `json:"replicas"`
	// Numbers with constraints.
	// +optional
	Numbers *Numbers `json:"numbers,omitempty"`
	// Strings with constraints.
	// +optional
	Texts *Texts `json:"texts,omitempty"`
	// Lists with constraints.
	// +optional
	Lists *Lists `json:"lists,omitempty"`
	// Maps with constraints.
	// +optional
	Maps *Maps `json:"maps,omitempty"`
	// Structs with constraints.
	// +optional
	Structs *Structs `json:"structs,omitempty"`
	// Fields that exclude each other.
	// +optional
	Choices *Choices `json:"choices,omitempty"`
	// Fields with CEL rules.
	// +optional
	Rules *Rules `json:"rules,omitempty"`
	// Fields with defaults.
	// +kubebuilder:default={}
	// +optional
	Defaults Defaults `json:"defaults"`
	// Fields of Kubernetes types.
	// +optional
	Kubernetes *Kubernetes `json:"kubernetes,omitempty"`

	// Flattened fields.
	Shared `json:",inline"`
}

// Shared has flattened fields.
type Shared struct {
	// Whether the fleet is shared.
	// +optional
	Shared bool `json:"shared,omitempty"`
}

// Numbers are numbers with constraints.
// +kubebuilder:title="Some numbers"
type Numbers struct {
	// From 1 to 9.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	Between int32 `json:"between"`
	// Above 0 and below 10.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	// +kubebuilder:validation:ExclusiveMinimum=true
	// +kubebuilder:validation:ExclusiveMaximum=true
	Inside int64 `json:"inside"`
	// A multiple of five.
	// +kubebuilder:validation:MultipleOf=5
	Fives int64 `json:"fives"`
	// One of three values.
	// +kubebuilder:validation:Enum=1;2;3
	Few int32 `json:"few"`
	// At least one half.
	// +kubebuilder:validation:Minimum=0.5
	// +optional
	Ratio *float64 `json:"ratio,omitempty"`
	// An unsigned integer.
	// +optional
	Unsigned *uint32 `json:"unsigned,omitempty"`
	// A small unsigned integer.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=255
	// +optional
	Small *uint8 `json:"small,omitempty"`
	// An integer of the platform's width.
	// +optional
	Wide *int `json:"wide,omitempty"`
}

// Texts are strings with constraints.
type Texts struct {
	// A minimum and a maximum length.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Measured string `json:"measured"`
	// Lower-case letters.
	// +kubebuilder:validation:Pattern=`^[a-z]+$`
	// +optional
	Matched string `json:"matched,omitempty"`
	// An IPv4 address.
	// +kubebuilder:validation:Format=ipv4
	// +optional
	Formatted string `json:"formatted,omitempty"`
	// The name of an object.
	// +kubebuilder:validation:Format=k8s-short-name
	// +optional
	Named string `json:"named,omitempty"`
	// One of two values.
	// +kubebuilder:validation:Enum=hard;soft
	// +optional
	Chosen string `json:"chosen,omitempty"`
	// The mood.
	// +optional
	Mood Mood `json:"mood,omitempty"`
	// +optional
	Tone Tone `json:"tone,omitempty"`
	// All descriptive attributes.
	// +kubebuilder:title=Described
	// +kubebuilder:example=clear
	// +kubebuilder:externalDocs:url="https://example.com/texts",description="All about texts"
	// +optional
	Described string `json:"described,omitempty"`
	// A nullable string.
	// +nullable
	// +optional
	Nullable *string `json:"nullable"`
	// A required nullable string.
	// +nullable
	RequiredNullable *string `json:"requiredNullable"`
	// A required option.
	// +kubebuilder:validation:Required
	Forced *string `json:"forced,omitempty"`
	// A string type with constraints.
	// +optional
	Word Word `json:"word,omitempty"`
	// A string type with constraints, and constraints of the field.
	// +kubebuilder:validation:MaxLength=10
	// +optional
	ShortWord Word `json:"shortWord,omitempty"`
	// A struct that is encoded as a string.
	// +optional
	Size *Size `json:"size,omitempty"`
	// Immutable.
	// +k8s:immutable
	// +kubebuilder:validation:MaxLength=40
	Fixed string `json:"fixed"`
	// Immutable once set.
	// +k8s:immutable
	// +kubebuilder:validation:MaxLength=40
	// +optional
	FixedLater *string `json:"fixedLater,omitempty"`
}

// Mood is an enum.
// +kubebuilder:validation:Enum=Bright;Dark
type Mood string

// Tone is an enum whose documentation is on the type.
// +k8s:enum
type Tone string

const (
	// ToneHigh is a high tone.
	ToneHigh Tone = "High"
	// ToneLow is a low tone.
	ToneLow Tone = "Low"
)

// Word is a string with constraints.
// +kubebuilder:validation:MinLength=2
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:Pattern=`^[a-z]*$`
type Word string

// Size is a width and a height, encoded as one string.
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:Pattern=`^[0-9]+x[0-9]+$`
type Size struct {
	Width  int32 `json:"-"`
	Height int32 `json:"-"`
}

// Lists are lists of each list type.
type Lists struct {
	// A set.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z]+$`
	Set []string `json:"set"`
	// Atomic.
	// +listType=atomic
	// +kubebuilder:validation:items:Minimum=10
	// +kubebuilder:validation:items:Maximum=30
	// +kubebuilder:validation:items:MultipleOf=10
	// +optional
	Atomic []int32 `json:"atomic,omitempty"`
	// A list map with one key.
	// +listType=map
	// +listMapKey=name
	// +optional
	Keyed []Ship `json:"keyed,omitempty"`
	// A list map with two keys.
	// +listType=map
	// +listMapKey=name
	// +listMapKey=number
	// +optional
	TwiceKeyed []Ship `json:"twiceKeyed,omitempty"`
	// A list without a list type.
	// +optional
	Plain []Ship `json:"plain,omitempty"`
	// Lists of lists.
	// +kubebuilder:validation:items:MinItems=1
	// +kubebuilder:validation:items:MaxItems=4
	// +optional
	Nested [][]string `json:"nested,omitempty"`
	// Lists of maps.
	// +kubebuilder:validation:items:MinProperties=1
	// +kubebuilder:validation:items:MaxProperties=4
	// +optional
	Tables []map[string]string `json:"tables,omitempty"`
	// Each is above 0 and below 10.
	// +kubebuilder:validation:items:Minimum=0
	// +kubebuilder:validation:items:Maximum=10
	// +kubebuilder:validation:items:ExclusiveMinimum=true
	// +kubebuilder:validation:items:ExclusiveMaximum=true
	// +optional
	Inside []int64 `json:"inside,omitempty"`
	// A set by its type.
	// +optional
	Flags Flags `json:"flags,omitempty"`
	// Each has a format.
	// +kubebuilder:validation:items:Format=ipv4
	// +optional
	Addresses []string `json:"addresses,omitempty"`
	// Each is one of two values.
	// +kubebuilder:validation:items:Enum=hard;soft
	// +optional
	Chosen []string `json:"chosen,omitempty"`
	// Each is a Word.
	// +optional
	Words []Word `json:"words,omitempty"`
	// Bytes.
	// +optional
	Bytes []byte `json:"bytes,omitempty"`
}

// Flags are a set.
// +listType=set
// +kubebuilder:validation:MaxItems=8
// +kubebuilder:validation:items:MaxLength=20
type Flags []string

// Ship is one of a Fleet.
type Ship struct {
	// The name.
	// +kubebuilder:validation:MaxLength=20
	Name string `json:"name"`
	// The number among ships of that name.
	// +kubebuilder:default=1
	// +optional
	Number int32 `json:"number"`
	// The cargo.
	// +optional
	Cargo *string `json:"cargo,omitempty"`
}

// Maps are maps of each map type.
type Maps struct {
	// A map with a number of entries.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=10
	// +optional
	Counted map[string]string `json:"counted,omitempty"`
	// Atomic.
	// +mapType=atomic
	// +optional
	Atomic map[string]int64 `json:"atomic,omitempty"`
	// Granular.
	// +mapType=granular
	// +optional
	Granular map[string]Ship `json:"granular,omitempty"`
	// Values with constraints.
	// +optional
	Words map[string]Word `json:"words,omitempty"`
	// Lists as values.
	// +optional
	Lists map[string][]string `json:"lists,omitempty"`
	// Atomic by its type.
	// +optional
	Notes Notes `json:"notes,omitempty"`
}

// Notes are an atomic map.
// +mapType=atomic
// +kubebuilder:validation:MaxProperties=4
type Notes map[string]string

// Structs are structs of each struct type.
type Structs struct {
	// Atomic.
	// +structType=atomic
	// +optional
	Atomic *Ship `json:"atomic,omitempty"`
	// Granular.
	// +structType=granular
	// +optional
	Granular *Ship `json:"granular,omitempty"`
	// Atomic by its type.
	// +optional
	Anchor *Anchor `json:"anchor,omitempty"`
	// With unknown fields.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Open *Ship `json:"open,omitempty"`
	// With unknown fields by its type.
	// +optional
	Chest *Chest `json:"chest,omitempty"`
	// A complete embedded object.
	// +kubebuilder:validation:EmbeddedResource
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Embedded *runtime.RawExtension `json:"embedded,omitempty"`
	// Any JSON.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Schemaless *Ship `json:"schemaless,omitempty"`
}

// Anchor is an atomic struct.
// +structType=atomic
// +kubebuilder:validation:MinProperties=1
type Anchor struct {
	// The weight in tons.
	// +optional
	Weight *int32 `json:"weight,omitempty"`
}

// Chest preserves unknown fields.
// +kubebuilder:pruning:PreserveUnknownFields
type Chest struct {
	// The label.
	// +optional
	Label *string `json:"label,omitempty"`
}

// Choices are fields that exclude each other.
// +kubebuilder:validation:ExactlyOneOf=sail;engine
// +kubebuilder:validation:AtMostOneOf=bell;horn
// +kubebuilder:validation:AtLeastOneOf=flag;lamp
type Choices struct {
	// Driven by wind.
	// +optional
	Sail *string `json:"sail,omitempty"`
	// Driven by oil.
	// +optional
	Engine *string `json:"engine,omitempty"`
	// A signal.
	// +optional
	Bell *string `json:"bell,omitempty"`
	// Another signal.
	// +optional
	Horn *string `json:"horn,omitempty"`
	// A mark.
	// +optional
	Flag *string `json:"flag,omitempty"`
	// A light.
	// +optional
	Lamp *string `json:"lamp,omitempty"`
}

// Rules have CEL rules on types, fields and items.
// +kubebuilder:validation:XValidation:rule="self.least <= self.most",message="most is the greater one",reason=FieldValueInvalid
// +kubebuilder:validation:XValidation:rule="self.most < 100",messageExpression="self.least > 0 ? 'most is too great' : 'least is too small'",fieldPath=".most"
type Rules struct {
	// The minimum.
	Least int32 `json:"least"`
	// The maximum.
	Most int32 `json:"most"`
	// An increasing number.
	// +kubebuilder:validation:XValidation:rule="!oldSelf.hasValue() || self >= oldSelf.value()",message="it only grows",optionalOldSelf=true
	// +optional
	Growing *int64 `json:"growing,omitempty"`
	// Even numbers.
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:XValidation:rule="self % 2 == 0",message="must be even"
	// +optional
	Even []int32 `json:"even,omitempty"`
	// Ships with unique names.
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:XValidation:rule="self.all(one, self.exists_one(other, other.name == one.name))",message="names are unique",reason=FieldValueDuplicate
	// +optional
	Ships []Ship `json:"ships,omitempty"`
	// A type with a CEL rule.
	// +optional
	Even2 *Even `json:"evenByType,omitempty"`
}

// Even is an even number.
// +kubebuilder:validation:XValidation:rule="self % 2 == 0",message="must be even"
type Even int32

// Defaults are fields with defaults.
type Defaults struct {
	// A string.
	// +kubebuilder:default=calm
	// +optional
	Text string `json:"text"`
	// An integer.
	// +default=5
	// +optional
	Number int64 `json:"number"`
	// A boolean.
	// +kubebuilder:default=true
	// +optional
	Truth bool `json:"truth"`
	// One of two values.
	// +kubebuilder:default=Dark
	// +optional
	Mood Mood `json:"mood"`
	// A list.
	// +kubebuilder:default={"a","b"}
	// +optional
	List []string `json:"list"`
	// A list of structs.
	// +kubebuilder:default={{name: "one", number: 7}}
	// +optional
	Ships []Ship `json:"ships"`
	// A map.
	// +kubebuilder:default={a: "b"}
	// +optional
	Map map[string]string `json:"map"`
	// A struct.
	// +kubebuilder:default={name: "one", number: 1}
	// +optional
	Ship Ship `json:"ship"`
}

// Kubernetes has fields of Kubernetes types.
type Kubernetes struct {
	// A pod template.
	// +optional
	Template *corev1.PodTemplateSpec `json:"template,omitempty"`
	// A label selector.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// An integer or a string.
	// +optional
	Port *intstr.IntOrString `json:"port,omitempty"`
	// A quantity.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// Any object.
	// +optional
	Raw *runtime.RawExtension `json:"raw,omitempty"`
	// Any JSON.
	// +optional
	Json *apiextensionsv1.JSON `json:"json,omitempty"`
	// A time.
	// +optional
	Time *metav1.Time `json:"time,omitempty"`
	// A time in microseconds.
	// +optional
	MicroTime *metav1.MicroTime `json:"microTime,omitempty"`
	// A duration.
	// +optional
	Duration *metav1.Duration `json:"duration,omitempty"`
	// Resource requirements.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// A reference to a secret.
	// +optional
	Secret *corev1.LocalObjectReference `json:"secret,omitempty"`
	// Metadata of a created object.
	// +optional
	Metadata *metav1.ObjectMeta `json:"metadata,omitempty"`
	// An integer or a string with a pattern.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^[0-9]+%?$`
	// +optional
	Share *intstr.IntOrString `json:"share,omitempty"`
}

// FleetStatus is the observed state of a Fleet.
type FleetStatus struct {
	// Conditions.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// The current number of ships.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// The selector of the ships.
	// +optional
	Selector string `json:"selector,omitempty"`
}

// A Beacon is a minimal cluster-scoped kind.
//
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="Brightness",type=integer,JSONPath=`.spec.brightness`
type Beacon struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The desired state.
	Spec BeaconSpec `json:"spec"`
}

// BeaconSpec is the desired state of a Beacon.
type BeaconSpec struct {
	// The brightness.
	// +optional
	Brightness *int32 `json:"brightness,omitempty"`
	// +optional
	Colour *Colour `json:"colour,omitempty"`
}

// Colour is described on its type alone.
type Colour struct {
	Name string `json:"name"`
}
