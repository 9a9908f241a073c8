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
// +kubebuilder:printcolumn:name="Harbour",type=string,JSONPath=`.spec.harbour`,description="Where it lies",priority=1
// +kubebuilder:printcolumn:name="Ships",type=integer,JSONPath=`.spec.replicas`,format=int32
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:selectablefield:JSONPath=`.spec.harbour`
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep",labels="app=twins"
// +kubebuilder:externalDocs:url="https://example.com/fleets",description="All about fleets"
// +kubebuilder:validation:XValidation:rule="self.metadata.name != self.spec.harbour",message="a fleet is not named after its harbour",fieldPath=".spec.harbour"
type Fleet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What is wanted.
	Spec FleetSpec `json:"spec"`
	// What was observed.
	// +optional
	Status FleetStatus `json:"status,omitempty"`
}

// FleetSpec is what is wanted of a Fleet.
type FleetSpec struct {
	// Where it lies.
	// +kubebuilder:validation:MaxLength=63
	Harbour string `json:"harbour"`
	// How many ships it has.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:default=3
	// +optional
	Replicas int32 `json:"replicas"`
	// What is said of numbers.
	// +optional
	Numbers *Numbers `json:"numbers,omitempty"`
	// What is said of texts.
	// +optional
	Texts *Texts `json:"texts,omitempty"`
	// What is said of lists.
	// +optional
	Lists *Lists `json:"lists,omitempty"`
	// What is said of maps.
	// +optional
	Maps *Maps `json:"maps,omitempty"`
	// What is said of structs.
	// +optional
	Structs *Structs `json:"structs,omitempty"`
	// What is said of choices.
	// +optional
	Choices *Choices `json:"choices,omitempty"`
	// What is said in CEL.
	// +optional
	Rules *Rules `json:"rules,omitempty"`
	// What has a default.
	// +kubebuilder:default={}
	// +optional
	Defaults Defaults `json:"defaults"`
	// What Kubernetes has.
	// +optional
	Kubernetes *Kubernetes `json:"kubernetes,omitempty"`

	// Fields of another struct.
	Shared `json:",inline"`
}

// Shared has fields that stand among others.
type Shared struct {
	// Whether it is shared.
	// +optional
	Shared bool `json:"shared,omitempty"`
}

// Numbers are numbers with bounds.
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
	// By fives.
	// +kubebuilder:validation:MultipleOf=5
	Fives int64 `json:"fives"`
	// One of three.
	// +kubebuilder:validation:Enum=1;2;3
	Few int32 `json:"few"`
	// A half or more.
	// +kubebuilder:validation:Minimum=0.5
	// +optional
	Ratio *float64 `json:"ratio,omitempty"`
	// Without a sign.
	// +optional
	Unsigned *uint32 `json:"unsigned,omitempty"`
	// A byte.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=255
	// +optional
	Small *uint8 `json:"small,omitempty"`
	// Without a width.
	// +optional
	Wide *int `json:"wide,omitempty"`
}

// Texts are texts of some form.
type Texts struct {
	// Neither short nor long.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Measured string `json:"measured"`
	// Small letters.
	// +kubebuilder:validation:Pattern=`^[a-z]+$`
	// +optional
	Matched string `json:"matched,omitempty"`
	// An address.
	// +kubebuilder:validation:Format=ipv4
	// +optional
	Formatted string `json:"formatted,omitempty"`
	// The name of an object.
	// +kubebuilder:validation:Format=k8s-short-name
	// +optional
	Named string `json:"named,omitempty"`
	// One of two.
	// +kubebuilder:validation:Enum=hard;soft
	// +optional
	Chosen string `json:"chosen,omitempty"`
	// How it feels.
	// +optional
	Mood Mood `json:"mood,omitempty"`
	// +optional
	Tone Tone `json:"tone,omitempty"`
	// With all that people read.
	// +kubebuilder:title=Described
	// +kubebuilder:example=clear
	// +kubebuilder:externalDocs:url="https://example.com/texts",description="All about texts"
	// +optional
	Described string `json:"described,omitempty"`
	// It may be null.
	// +nullable
	// +optional
	Nullable *string `json:"nullable"`
	// It must be there, and may be null.
	// +nullable
	RequiredNullable *string `json:"requiredNullable"`
	// An option that must be there.
	// +kubebuilder:validation:Required
	Forced *string `json:"forced,omitempty"`
	// A text that says more of itself.
	// +optional
	Word Word `json:"word,omitempty"`
	// One of its own, with rules of the field.
	// +kubebuilder:validation:MaxLength=10
	// +optional
	ShortWord Word `json:"shortWord,omitempty"`
	// A struct that is a text in JSON.
	// +optional
	Size *Size `json:"size,omitempty"`
	// It does not change.
	// +k8s:immutable
	// +kubebuilder:validation:MaxLength=40
	Fixed string `json:"fixed"`
	// It does not change once it is there.
	// +k8s:immutable
	// +kubebuilder:validation:MaxLength=40
	// +optional
	FixedLater *string `json:"fixedLater,omitempty"`
}

// Mood is how something feels.
// +kubebuilder:validation:Enum=Bright;Dark
type Mood string

// Tone is how something sounds.
// +k8s:enum
type Tone string

const (
	// ToneHigh is a high one.
	ToneHigh Tone = "High"
	// ToneLow is a low one.
	ToneLow Tone = "Low"
)

// Word is a word.
// +kubebuilder:validation:MinLength=2
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:Pattern=`^[a-z]*$`
type Word string

// Size is width and height, written as one text.
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:Pattern=`^[0-9]+x[0-9]+$`
type Size struct {
	Width  int32 `json:"-"`
	Height int32 `json:"-"`
}

// Lists are lists of each topology.
type Lists struct {
	// In any order.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z]+$`
	Set []string `json:"set"`
	// Replaced together.
	// +listType=atomic
	// +kubebuilder:validation:items:Minimum=10
	// +kubebuilder:validation:items:Maximum=30
	// +kubebuilder:validation:items:MultipleOf=10
	// +optional
	Atomic []int32 `json:"atomic,omitempty"`
	// One for each name.
	// +listType=map
	// +listMapKey=name
	// +optional
	Keyed []Ship `json:"keyed,omitempty"`
	// One for each name and number.
	// +listType=map
	// +listMapKey=name
	// +listMapKey=number
	// +optional
	TwiceKeyed []Ship `json:"twiceKeyed,omitempty"`
	// Nothing is said of it.
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
	// Each has a form.
	// +kubebuilder:validation:items:Format=ipv4
	// +optional
	Addresses []string `json:"addresses,omitempty"`
	// Each is one of two.
	// +kubebuilder:validation:items:Enum=hard;soft
	// +optional
	Chosen []string `json:"chosen,omitempty"`
	// Each is a word.
	// +optional
	Words []Word `json:"words,omitempty"`
	// Bytes.
	// +optional
	Bytes []byte `json:"bytes,omitempty"`
}

// Flags are flown.
// +listType=set
// +kubebuilder:validation:MaxItems=8
// +kubebuilder:validation:items:MaxLength=20
type Flags []string

// Ship is one of a Fleet.
type Ship struct {
	// Its name.
	// +kubebuilder:validation:MaxLength=20
	Name string `json:"name"`
	// Which of that name.
	// +kubebuilder:default=1
	// +optional
	Number int32 `json:"number"`
	// What it carries.
	// +optional
	Cargo *string `json:"cargo,omitempty"`
}

// Maps are maps of each topology.
type Maps struct {
	// For people.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=10
	// +optional
	Counted map[string]string `json:"counted,omitempty"`
	// Replaced together.
	// +mapType=atomic
	// +optional
	Atomic map[string]int64 `json:"atomic,omitempty"`
	// Entry by entry.
	// +mapType=granular
	// +optional
	Granular map[string]Ship `json:"granular,omitempty"`
	// Values that say more of themselves.
	// +optional
	Words map[string]Word `json:"words,omitempty"`
	// Lists by name.
	// +optional
	Lists map[string][]string `json:"lists,omitempty"`
	// Atomic by its type.
	// +optional
	Notes Notes `json:"notes,omitempty"`
}

// Notes are written down.
// +mapType=atomic
// +kubebuilder:validation:MaxProperties=4
type Notes map[string]string

// Structs are structs of each kind.
type Structs struct {
	// Replaced as a whole.
	// +structType=atomic
	// +optional
	Atomic *Ship `json:"atomic,omitempty"`
	// Field by field.
	// +structType=granular
	// +optional
	Granular *Ship `json:"granular,omitempty"`
	// Atomic by its type.
	// +optional
	Anchor *Anchor `json:"anchor,omitempty"`
	// With fields that nobody named.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Open *Ship `json:"open,omitempty"`
	// Open by its type.
	// +optional
	Chest *Chest `json:"chest,omitempty"`
	// A whole object.
	// +kubebuilder:validation:EmbeddedResource
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Embedded *runtime.RawExtension `json:"embedded,omitempty"`
	// Anything.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Schemaless *Ship `json:"schemaless,omitempty"`
}

// Anchor holds a ship.
// +structType=atomic
// +kubebuilder:validation:MinProperties=1
type Anchor struct {
	// In tons.
	// +optional
	Weight *int32 `json:"weight,omitempty"`
}

// Chest holds anything.
// +kubebuilder:pruning:PreserveUnknownFields
type Chest struct {
	// What stands on it.
	// +optional
	Label *string `json:"label,omitempty"`
}

// Choices are fields that exclude each other.
// +kubebuilder:validation:ExactlyOneOf=sail;engine
// +kubebuilder:validation:AtMostOneOf=bell;horn
// +kubebuilder:validation:AtLeastOneOf=flag;lamp
type Choices struct {
	// By wind.
	// +optional
	Sail *string `json:"sail,omitempty"`
	// By oil.
	// +optional
	Engine *string `json:"engine,omitempty"`
	// It rings.
	// +optional
	Bell *string `json:"bell,omitempty"`
	// It blows.
	// +optional
	Horn *string `json:"horn,omitempty"`
	// It waves.
	// +optional
	Flag *string `json:"flag,omitempty"`
	// It shines.
	// +optional
	Lamp *string `json:"lamp,omitempty"`
}

// Rules are rules in CEL, wherever one may stand.
// +kubebuilder:validation:XValidation:rule="self.least <= self.most",message="most is the greater one",reason=FieldValueInvalid
// +kubebuilder:validation:XValidation:rule="self.most < 100",messageExpression="self.least > 0 ? 'most is too great' : 'least is too small'",fieldPath=".most"
type Rules struct {
	// The least.
	Least int32 `json:"least"`
	// The most.
	Most int32 `json:"most"`
	// It only grows.
	// +kubebuilder:validation:XValidation:rule="!oldSelf.hasValue() || self >= oldSelf.value()",message="it only grows",optionalOldSelf=true
	// +optional
	Growing *int64 `json:"growing,omitempty"`
	// Each is even.
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:XValidation:rule="self % 2 == 0",message="must be even"
	// +optional
	Even []int32 `json:"even,omitempty"`
	// No two with one name.
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:XValidation:rule="self.all(one, self.exists_one(other, other.name == one.name))",message="names are unique",reason=FieldValueDuplicate
	// +optional
	Ships []Ship `json:"ships,omitempty"`
	// A type with a rule.
	// +optional
	Even2 *Even `json:"evenByType,omitempty"`
}

// Even is an even number.
// +kubebuilder:validation:XValidation:rule="self % 2 == 0",message="must be even"
type Even int32

// Defaults are what fields are if nobody says.
type Defaults struct {
	// A text.
	// +kubebuilder:default=calm
	// +optional
	Text string `json:"text"`
	// A number.
	// +default=5
	// +optional
	Number int64 `json:"number"`
	// A truth.
	// +kubebuilder:default=true
	// +optional
	Truth bool `json:"truth"`
	// One of two.
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

// Kubernetes has types of Kubernetes' own.
type Kubernetes struct {
	// A template of pods.
	// +optional
	Template *corev1.PodTemplateSpec `json:"template,omitempty"`
	// Which pods.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// A port.
	// +optional
	Port *intstr.IntOrString `json:"port,omitempty"`
	// A size.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// Any object.
	// +optional
	Raw *runtime.RawExtension `json:"raw,omitempty"`
	// Any JSON.
	// +optional
	Json *apiextensionsv1.JSON `json:"json,omitempty"`
	// A moment.
	// +optional
	Time *metav1.Time `json:"time,omitempty"`
	// A moment, more exactly.
	// +optional
	MicroTime *metav1.MicroTime `json:"microTime,omitempty"`
	// How long.
	// +optional
	Duration *metav1.Duration `json:"duration,omitempty"`
	// What it needs.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// Where its secret is.
	// +optional
	Secret *corev1.LocalObjectReference `json:"secret,omitempty"`
	// Metadata of what is made.
	// +optional
	Metadata *metav1.ObjectMeta `json:"metadata,omitempty"`
	// An int or a text.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^[0-9]+%?$`
	// +optional
	Share *intstr.IntOrString `json:"share,omitempty"`
}

// FleetStatus is what was observed of a Fleet.
type FleetStatus struct {
	// What is so.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// How many ships there are.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// Which ships.
	// +optional
	Selector string `json:"selector,omitempty"`
}

// A Beacon is of the cluster as a whole, and says as little as can be said.
//
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="Brightness",type=integer,JSONPath=`.spec.brightness`
type Beacon struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What is wanted.
	Spec BeaconSpec `json:"spec"`
}

// BeaconSpec is what is wanted of a Beacon.
type BeaconSpec struct {
	// How bright it is.
	// +optional
	Brightness *int32 `json:"brightness,omitempty"`
	// +optional
	Colour *Colour `json:"colour,omitempty"`
}

// Colour is described on its type alone.
type Colour struct {
	Name string `json:"name"`
}
