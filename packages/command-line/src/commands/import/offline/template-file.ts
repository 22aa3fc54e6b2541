/**
 * Reads a CloudFormation template in JSON or YAML. The short tags of YAML are the functions of JSON: `!Sub` is Fn::Sub.
 */
import { isObject } from '@fantail/contracts'
import { type CollectionTag, Pair, parseDocument, Scalar, type ScalarTag, YAMLMap, YAMLSeq } from 'yaml'

export interface TemplateResource {
  Type: string
  Properties?: Record<string, unknown>
  Condition?: string
}

export interface Template {
  Parameters?: Record<string, { Default?: unknown }>
  Resources: Record<string, TemplateResource>
}

const FUNCTIONS = [
  ...[
    'And',
    'Base64',
    'Cidr',
    'Equals',
    'FindInMap',
    'ForEach',
    'GetAtt',
    'GetAZs',
    'If',
    'ImportValue',
    'Join',
  ],
  ...['Length', 'Not', 'Or', 'Select', 'Split', 'Sub', 'ToJsonString', 'Transform'],
]

/** Every function takes a text, a list or a map. */
const TAGS = [
  ['Ref', 'Ref'],
  ['Condition', 'Condition'],
  ...FUNCTIONS.map((name) => [name, `Fn::${name}`]),
].flatMap(([short = '', name = '']): (ScalarTag | CollectionTag)[] => {
  const tag = `!${short}`
  const call = (argument: unknown) => {
    const map = new YAMLMap()
    map.add(new Pair(new Scalar(name), argument))
    return map
  }
  return [
    { tag, resolve: (text: string) => ({ [name]: text }) },
    { tag, collection: 'seq', nodeClass: YAMLSeq, resolve: call },
    { tag, collection: 'map', nodeClass: YAMLMap, resolve: call },
  ]
})

/** A document in JSON or YAML. Throws its first error. */
export function parseFile(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // YAML, or JSON with an error that the parser of YAML describes better.
  }
  const document = parseDocument(text, { customTags: TAGS })
  const [error] = document.errors
  if (error) throw error
  return document.toJS()
}

export function isTemplate(document: unknown): document is Template {
  if (!isObject(document) || !isObject(document.Resources)) return false
  return Object.values(document.Resources).every((resource) => isObject(resource) && 'Type' in resource)
}
