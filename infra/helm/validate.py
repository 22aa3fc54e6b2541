"""Checks rendered manifests, and prints them as JSON, by file.

Kinds of Kubernetes itself are checked by kubernetes-validate. Kinds of operators are checked by the schemas of their
CustomResourceDefinitions. Both checks are strict: a field that the schema does not name is an error.

    python validate.py DEFINITION... -- MANIFESTS...
"""
import json
import sys

import jsonschema
import kubernetes_validate
import yaml


def strict(schema):
    """The schema without the fields that it does not name, as kubectl checks it with --validate=strict."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: strict(value) for name, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            made.setdefault("additionalProperties", False)
    return made


def schemas_of(paths):
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            definition = yaml.safe_load(file)
        spec = definition["spec"]
        for version in spec["versions"]:
            schema = version["schema"]["openAPIV3Schema"]
            schema["properties"].pop("metadata", None)
            made = strict(schema)
            made["properties"]["metadata"] = {"type": "object", "required": ["name"]}
            found[(f"{spec['group']}/{version['name']}", spec["names"]["kind"])] = made
    return found


def problems_of(manifest, schemas):
    schema = schemas.get((manifest["apiVersion"], manifest["kind"]))
    if schema:
        return [
            f"{'/'.join(map(str, error.path))}: {error.message}"
            for error in jsonschema.Draft7Validator(schema).iter_errors(manifest)
        ]
    try:
        kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)
        return []
    except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as error:
        # Its further lines are the whole schema.
        return [str(error).splitlines()[0]]


def main(words):
    end = words.index("--")
    schemas = schemas_of(words[:end])
    manifests = {}
    for path in words[end + 1 :]:
        with open(path, encoding="utf-8") as file:
            manifests[path] = [manifest for manifest in yaml.safe_load_all(file) if manifest]
    bad = [
        f"{path}: {manifest['kind']} {manifest['metadata']['name']}: {problem}"
        for path, list_of in manifests.items()
        for manifest in list_of
        for problem in problems_of(manifest, schemas)
    ]
    print("\n".join(bad), file=sys.stderr)
    print(json.dumps(manifests))
    return 1 if bad else 0


sys.exit(main(sys.argv[1:]))
