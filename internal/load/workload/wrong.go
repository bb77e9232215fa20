package workload

import (
	"encoding/json"
	"errors"
	"fmt"
)

// WrongType rewords a type error of encoding/json without Go's types.
func WrongType(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
		return err
	case wrong.Field == "":
		return fmt.Errorf("it is a JSON %s", wrong.Value)
	}
	return fmt.Errorf("field %q is a JSON %s", wrong.Field, wrong.Value)
}
