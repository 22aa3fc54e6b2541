/**
 * The functions of CloudFormation templates, as far as a template alone decides them: Ref, Fn::GetAtt, Fn::Sub and
 * Fn::Join, over parameters, pseudo parameters, and the template's own topics and queues.
 */
import { isObject } from '@fantail/contracts'
import type { Place } from './offline-source.ts'

/** A value that the template alone does not decide. The message is the reason, to be read after a colon. */
export class Unresolved extends Error {}

/** A topic or queue of the template, as functions show it. */
interface NamedResource {
  /** `Ref` is a topic's ARN and a queue's URL. */
  ref: string
  attributes: Record<string, string>
}

export interface TemplateScope {
  place: Place
  /** Values of parameters: those that the caller gives, else the defaults of the template. */
  parameters: Record<string, unknown>
  resources: Map<string, NamedResource>
}

type Function = (given: unknown, scope: TemplateScope) => unknown

const FUNCTIONS: Record<string, Function> = {
  Ref: (given, scope) => reference(String(given), scope),
  'Fn::GetAtt': (given, scope) => {
    const [id = '', ...path] = Array.isArray(given) ? given.map(String) : String(given).split('.')
    return attribute(id, path.join('.'), scope)
  },
  'Fn::Sub': substitute,
  'Fn::Join': (given, scope) => {
    const [separator, parts] = Array.isArray(given) ? given : []
    const list = resolved(parts, scope)
    if (typeof separator !== 'string' || !Array.isArray(list)) throw new Unresolved('Fn::Join of no list')
    return list.map(String).join(separator)
  },
}

const NO_VALUE = 'AWS::NoValue'

/** Throws `Unresolved`. Members whose value is AWS::NoValue are left out. */
export function resolved(value: unknown, scope: TemplateScope): unknown {
  if (Array.isArray(value))
    return value.filter((item) => !isNoValue(item)).map((item) => resolved(item, scope))
  if (!isObject(value)) return value
  const [[name, given] = ['', undefined], ...others] = Object.entries(value)
  if (others.length === 0 && (name === 'Ref' || name.startsWith('Fn::'))) {
    const apply = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined
    if (!apply) throw new Unresolved(`${name} is not supported`)
    return apply(given, scope)
  }
  const members = Object.entries(value).filter(([, member]) => !isNoValue(member))
  return Object.fromEntries(members.map(([key, member]) => [key, resolved(member, scope)]))
}

export function isNoValue(value: unknown): boolean {
  return isObject(value) && value.Ref === NO_VALUE
}

function reference(name: string, { place, parameters, resources }: TemplateScope): unknown {
  const pseudo: Record<string, string> = {
    'AWS::AccountId': place.account,
    'AWS::Region': place.region,
    'AWS::Partition': place.partition,
    'AWS::URLSuffix': 'amazonaws.com',
  }
  if (Object.hasOwn(pseudo, name)) return pseudo[name]
  if (Object.hasOwn(parameters, name)) return parameters[name]
  const resource = resources.get(name)
  if (resource) return resource.ref
  throw new Unresolved(`${name} has no value in the template`)
}

function attribute(id: string, name: string, { resources }: TemplateScope): string {
  const attributes = new Map(Object.entries(resources.get(id)?.attributes ?? {}))
  const value = attributes.get(name)
  if (value !== undefined) return value
  throw new Unresolved(`${id}.${name} has no value in the template`)
}

/** `${Name}` and `${Id.Attribute}`; `${!Name}` stands for `${Name}` itself. */
function substitute(given: unknown, scope: TemplateScope): string {
  const [text, own] = Array.isArray(given) ? given : [given, {}]
  const variables = Object.entries(isObject(own) ? own : {})
  const known = new Map(variables.map(([name, value]) => [name, () => resolved(value, scope)]))
  return String(text).replace(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
    if (literal) return `\${${name}}`
    const ready = known.get(name)
    if (ready) return String(ready())
    const [id = '', ...path] = name.split('.')
    return path.length === 0 ? String(reference(id, scope)) : attribute(id, path.join('.'), scope)
  })
}
