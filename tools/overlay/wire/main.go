// Prints the wire format of Kubernetes' own types: the fields of each struct with their names in JSON, their numbers in
// protobuf and their types, from the struct tags, in the order of the struct, which is that of JSON. `cargo xtask overlay`
// runs it in the module of the control plane.
package main

import (
	"fmt"
	"log"
	"os"
	"reflect"
	"sort"
	"strings"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	apps "k8s.io/api/apps/v1"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	certificates "k8s.io/api/certificates/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	events "k8s.io/api/events/v1"
	flowcontrol "k8s.io/api/flowcontrol/v1"
	networking "k8s.io/api/networking/v1"
	node "k8s.io/api/node/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	resource "k8s.io/api/resource/v1"
	scheduling "k8s.io/api/scheduling/v1"
	storage "k8s.io/api/storage/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// The registrations of the served versions, which define the kinds.
var groups = []func(*runtime.Scheme) error{
	admissionregistration.AddToScheme, apidiscovery.AddToScheme, apiextensions.AddToScheme, apiregistration.AddToScheme, apps.AddToScheme,
	authentication.AddToScheme, authorization.AddToScheme, autoscalingv1.AddToScheme, autoscalingv2.AddToScheme, batch.AddToScheme,
	certificates.AddToScheme, coordination.AddToScheme, core.AddToScheme, discovery.AddToScheme, events.AddToScheme,
	flowcontrol.AddToScheme, networking.AddToScheme, node.AddToScheme, policy.AddToScheme, rbac.AddToScheme, resource.AddToScheme,
	scheduling.AddToScheme, storage.AddToScheme,
}

// The kinds without a group.
var common = []any{
	meta.APIGroup{}, meta.APIGroupList{}, meta.APIResourceList{}, meta.APIVersions{}, meta.DeleteOptions{},
	meta.PartialObjectMetadata{}, meta.PartialObjectMetadataList{}, meta.Status{}, meta.WatchEvent{},
}

// Structs and slices with custom encodings, with the names under which the decoder implements them.
var special = map[string]string{
	"api/resource.Quantity":                         "Quantity",
	"meta/v1.Duration":                              "Duration",
	"meta/v1.FieldsV1":                              "FieldsV1",
	"meta/v1.MicroTime":                             "MicroTime",
	"meta/v1.Time":                                  "Time",
	"pkg/runtime.RawExtension":                      "RawExtension",
	"util/intstr.IntOrString":                       "IntOrString",
	"apiextensions/v1.JSON":                         "JSON",
	"apiextensions/v1.JSONSchemaPropsOrArray":       "JSONSchemaPropsOrArray",
	"apiextensions/v1.JSONSchemaPropsOrBool":        "JSONSchemaPropsOrBool",
	"apiextensions/v1.JSONSchemaPropsOrStringArray": "JSONSchemaPropsOrStringArray",
}

// The fields of all types by type name.
type table map[string][]entry

// One field of a struct.
type entry struct{ key, value string }

func main() {
	types := table{}
	scheme := runtime.NewScheme()
	for _, add := range groups {
		if err := add(scheme); err != nil {
			log.Fatal(err)
		}
	}
	for _, type_ := range scheme.AllKnownTypes() {
		if !strings.HasPrefix(name(type_), "meta.") {
			types.add(type_)
		}
	}
	for _, object := range common {
		types.add(reflect.TypeOf(object))
	}
	fmt.Fprint(os.Stdout, types)
}

func (types table) add(type_ reflect.Type) string {
	if known, ok := special[path(type_)]; ok {
		// The element type of these, a schema, needs an entry too.
		if known == "JSONSchemaPropsOrArray" {
			types.add(reflect.TypeOf(apiextensions.JSONSchemaProps{}))
		}
		return known
	}
	name := name(type_)
	if _, ok := types[name]; ok {
		return name
	}
	types[name] = nil
	if type_.Kind() == reflect.Slice {
		types[name] = []entry{{"[]", "1 []" + types.of(type_.Elem())}}
		return name
	}
	var fields []entry
	for i := range type_.NumField() {
		if key, value, ok := types.field(type_.Field(i)); ok {
			fields = append(fields, entry{key, value})
		}
	}
	types[name] = fields
	return name
}

// Returns the name of a field, with `?` if it is omitted when it is zero and `+` if it is inlined; and its number, its
// type and its name in Go, unless that is the capitalised name.
func (types table) field(field reflect.StructField) (string, string, bool) {
	tag, ok := field.Tag.Lookup("protobuf")
	if !ok {
		return "", "", false
	}
	number := strings.Split(tag, ",")[1]
	options := strings.Split(field.Tag.Get("json"), ",")
	key := options[0]
	for _, option := range options[1:] {
		isStruct := field.Type.Kind() == reflect.Struct
		switch {
		case option == "inline":
			key = "+" + field.Name
		case (option == "omitempty" && !isStruct || option == "omitzero") && !strings.HasSuffix(key, "?"):
			key += "?"
		}
	}
	value := number + " " + types.of(field.Type)
	if name := options[0]; name == "" || strings.ToUpper(name[:1])+name[1:] != field.Name {
		value += " " + field.Name
	}
	return key, value, key != ""
}

func (types table) of(type_ reflect.Type) string {
	// A slice type that is a message has the methods of a message.
	_, isMessage := reflect.PointerTo(type_).MethodByName("Unmarshal")
	switch kind := type_.Kind(); {
	case kind == reflect.Pointer:
		return "*" + types.of(type_.Elem())
	case kind == reflect.Struct || isMessage:
		return types.add(type_)
	case kind == reflect.Slice && type_.Elem().Kind() == reflect.Uint8:
		return "bytes"
	case kind == reflect.Slice:
		return "[]" + types.of(type_.Elem())
	case kind == reflect.Map && type_.Key().Kind() == reflect.String:
		return "{}" + types.of(type_.Elem())
	case kind == reflect.String || kind == reflect.Bool || kind == reflect.Int32 || kind == reflect.Int64 || kind == reflect.Float64:
		return kind.String()
	}
	log.Fatalf("unsupported type %v", type_)
	return ""
}

// Returns the last two elements of the package path and the name of the type.
func path(type_ reflect.Type) string {
	parts := strings.Split(type_.PkgPath(), "/")
	return strings.Join(parts[max(len(parts)-2, 0):], "/") + "." + type_.Name()
}

// Returns the name of a type, such as `core.v1.Pod`.
func name(type_ reflect.Type) string {
	return strings.ReplaceAll(path(type_), "/", ".")
}

// Formats one line for each type.
func (types table) String() string {
	var lines []string
	for name, fields := range types {
		var entries []string
		for _, field := range fields {
			entries = append(entries, fmt.Sprintf("%q:%q", field.key, field.value))
		}
		lines = append(lines, fmt.Sprintf("%q:{%s}", name, strings.Join(entries, ",")))
	}
	sort.Strings(lines)
	return strings.Join(lines, ",\n") + "\n"
}
