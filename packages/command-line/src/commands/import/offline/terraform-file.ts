/**
 * Reads the resources of a Terraform state (`terraform.tfstate`, version 4), or of a state or a plan as `terraform show
 * -json` prints it.
 */
import { isObject } from '@fantail/contracts'
import type { TerraformResource } from './terraform-source.ts'

type Json = Record<string, unknown>

/** undefined: the document is none of these. */
export function terraformResources(document: unknown): TerraformResource[] | undefined {
  if (!isObject(document)) return undefined
  if (document.version === 4 && Array.isArray(document.resources)) return stateResources(document.resources)
  if (typeof document.format_version !== 'string') return undefined
  const values = document.planned_values ?? document.values
  if (!isObject(values)) return undefined
  return shownResources(document, values)
}

interface StateEntry {
  mode: string
  type: string
  name: string
  module?: string
  instances?: { index_key?: string | number; attributes?: Json }[]
}

function stateResources(entries: StateEntry[]): TerraformResource[] {
  return entries
    .filter(({ mode }) => mode === 'managed')
    .flatMap(({ type, name, module, instances = [] }) =>
      instances.map(({ index_key: key, attributes = {} }) => {
        const index = key === undefined ? '' : `[${JSON.stringify(key)}]`
        const address = [...(module === undefined ? [] : [module]), type, `${name}${index}`].join('.')
        return { address, type, values: attributes, unknown: [], references: {} }
      }),
    )
}

interface ShownModule {
  resources?: { address: string; mode: string; type: string; index?: string | number; values?: Json }[]
  child_modules?: ShownModule[]
}

interface ShownResource extends TerraformResource {
  index: string | number | undefined
}

function shownResources(document: Json, { root_module: root = {} }: Json): TerraformResource[] {
  const unknown = unknownMembers(document)
  const found = resourcesIn(root as ShownModule).map((resource) => ({
    ...resource,
    unknown: unknown.get(resource.address) ?? [],
  }))
  const configured = referencesIn(document)
  return found.map((resource) => withReferences(resource, found, configured))
}

function resourcesIn({ resources = [], child_modules: children = [] }: ShownModule): ShownResource[] {
  const own = resources.filter(({ mode }) => mode === 'managed')
  return [
    ...own.map(({ address, type, index, values = {} }) => ({
      ...{ address, type, index, values },
      ...{ unknown: [], references: {} },
    })),
    ...children.flatMap(resourcesIn),
  ]
}

/** Members by address that a plan knows only after `apply`. */
function unknownMembers({ resource_changes: changes }: Json): Map<string, string[]> {
  const list = (changes ?? []) as { address: string; change?: { after_unknown?: Json } }[]
  return new Map(
    list.map(({ address, change }) => {
      const members = Object.entries(change?.after_unknown ?? {})
      return [address, members.filter(([, isUnknown]) => isUnknown === true).map(([member]) => member)]
    }),
  )
}

interface ConfiguredModule {
  resources?: { address: string; expressions?: Record<string, { references?: string[] }> }[]
  module_calls?: Record<string, { module?: ConfiguredModule }>
}

/** References of each member with the module before them, by the address of the resource without indexes. */
function referencesIn({ configuration }: Json): Map<string, Record<string, string[]>> {
  const found = new Map<string, Record<string, string[]>>()
  const add = ({ resources = [], module_calls: calls = {} }: ConfiguredModule, before: string) => {
    for (const { address, expressions = {} } of resources) {
      const members = Object.entries(expressions).map(([member, expression]) => {
        const named = expression?.references ?? []
        return [member, named.map((reference) => before + reference)] as const
      })
      found.set(before + address, Object.fromEntries(members))
    }
    for (const [name, { module = {} }] of Object.entries(calls)) add(module, `${before}module.${name}.`)
  }
  const { root_module: root = {} } = (configuration ?? {}) as { root_module?: ConfiguredModule }
  add(root, '')
  return found
}

/** Members that refer to a whole topic or queue by its ARN or URL. */
const REFERRING = ['topic_arn', 'endpoint', 'arn', 'queue_url']

/**
 * Members that nobody sets are unknown because AWS fills them in, so they are left out. Of several resources with one
 * name, the one with the same index is meant.
 */
function withReferences(
  { index, ...resource }: ShownResource,
  all: ShownResource[],
  configured: Map<string, Record<string, string[]>>,
): TerraformResource {
  const named = configured.get(withoutIndexes(resource.address)) ?? {}
  const unknown = resource.unknown.filter((member) => member in named)
  const references = REFERRING.filter((member) => unknown.includes(member)).flatMap((member) => {
    const targets = all.filter(({ address }) => named[member]?.includes(withoutIndexes(address)))
    const meant = targets.length === 1 ? targets[0] : targets.find((other) => other.index === index)
    return meant && meant.address !== resource.address ? [[member, meant.address] as const] : []
  })
  return { ...resource, unknown, references: Object.fromEntries(references) }
}

/** `module.a["x"].aws_sns_topic.t[0]` is `module.a.aws_sns_topic.t` in the configuration. */
function withoutIndexes(address: string): string {
  return address.replace(/\[(?:\d+|"(?:[^"\\]|\\.)*")\]/g, '')
}
