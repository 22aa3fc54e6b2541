/** Checks of the chart that need no helm. `infra/helm/check.mjs` has the others. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from '../harness/services/service-process.ts'
import { CHART } from './kubernetes.fixture.ts'

interface Schema {
  $ref?: string
  $defs?: Record<string, Schema>
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
}

const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const templates = globSync('templates/**/*.{yaml,tpl}', { cwd: CHART }).map((path) =>
  readFileSync(join(CHART, path), 'utf8'),
)
const rendered = templates.join('\n')
const chart = parse(textOf('infra/helm/fantail/Chart.yaml')) as Record<string, unknown>
const values = parse(textOf('infra/helm/fantail/values.yaml')) as Record<string, Record<string, unknown>>
const schema = JSON.parse(textOf('infra/helm/fantail/values.schema.json')) as Schema

const schemaOf = ({ $ref, ...own }: Schema): Schema =>
  $ref ? (schema.$defs?.[$ref.split('/').at(-1) ?? ''] ?? {}) : own
const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Paths of values that one of the two has and the other has not. Maps with free names are left out. */
function differences(given: Record<string, unknown>, wanted: Schema, path = ''): string[] {
  const { properties, additionalProperties } = schemaOf(wanted)
  if (!properties || additionalProperties !== false) return []
  const names = new Set([...Object.keys(given), ...Object.keys(properties)])
  return [...names].flatMap((name) => {
    const [value, at] = [given[name], properties[name]]
    if (value === undefined || at === undefined) return [`${path}${name}`]
    return isMap(value) ? differences(value, at, `${path}${name}.`) : []
  })
}

test('the values and their schema have the same names', () => {
  // Helm adds `global` to the values of every chart.
  expect(differences(values, schema)).toEqual(['global'])
})

test('every value is used by a template, and every value that a template uses is there', () => {
  const used = [...rendered.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path.split('.'))
  const missing = used.filter((path) => {
    const at = path.reduce<unknown>((value, name) => (isMap(value) ? value[name] : undefined), values)
    return at === undefined && !['settings'].includes(path[0] ?? '')
  })
  expect(missing).toEqual([])
  const byName = ['redrive', ...Object.keys(values)]
  expect(byName.filter((name) => !rendered.includes(`.Values.${name}`) && name !== 'redrive')).toEqual([])
})

const SETTING = /\b(?:FANTAIL|REDIS)_[A-Z0-9_]*[A-Z0-9]\b/g
/** Settings of services. The last paragraphs of the example are about the receiver. */
const settings = [
  ...textOf('.env.example').matchAll(/read by ([^)]*)\)\n(?:# )?((?:FANTAIL|REDIS)_[A-Z0-9_]+)=/g),
]
  .filter(([, readers]) => readers !== 'example receiver')
  .map(([, , name = '']) => name)

test('templates name settings that exist, and every way to Redis can be set', () => {
  // The test pod's own variables.
  const named = [...new Set(rendered.match(SETTING))].filter((name) => !/^FANTAIL_(URL|API_KEY)$/.test(name))
  expect(named.filter((name) => !settings.includes(name))).toEqual([])
  const ofRedis = settings.filter((name) => name.startsWith('REDIS_'))
  expect(ofRedis.filter((name) => !named.includes(name))).toEqual([])
})

test('probes ask for paths that the services serve', () => {
  const probed = [...rendered.matchAll(/httpGet: \{ path: (\S+),/g)].map(([, path]) => path)
  expect([...new Set(probed)].toSorted()).toEqual(['/healthz', '/readyz'])
  const served = textOf('packages/runtime/src/health/ops-server.ts')
  for (const path of probed) expect(served).toContain(`case '${path}':`)
})

test('a pod has longer to end than its process needs', () => {
  const names = textOf('infra/helm/fantail/templates/_names.tpl')
  const [, seconds] = /define "fantail.stopSeconds" -}}(\d+){{/.exec(names) ?? []
  const [, ms = ''] = /STOP_TIMEOUT_MS = ([\d_]+)/.exec(textOf('packages/runtime/src/run-process.ts')) ?? []
  expect(Number(seconds) * 1_000).toBe(Number(ms.replaceAll('_', '')))
  expect(names).toContain('{{ add . (include "fantail.stopSeconds" .) 2 }}')
  expect(rendered).toContain('terminationGracePeriodSeconds: {{ include "fantail.graceSeconds" $preStop }}')
})

test('the chart has the version of the project, and runs the image as it is', () => {
  const { version, license } = JSON.parse(textOf('package.json')) as Record<string, string>
  expect([chart.version, chart.appVersion]).toEqual([version, version])
  expect((chart.annotations as Record<string, string>)['artifacthub.io/license']).toBe(license)
  const dockerfile = textOf('infra/docker/Dockerfile')
  expect(dockerfile).toMatch(/^ENTRYPOINT \["fantail"\]$/m)
  // Kubernetes cannot tell from a name that a user is not root.
  const [, uid] = /useradd --system --uid (\d+) .* fantail\b/.exec(dockerfile) ?? []
  expect(dockerfile).toMatch(/^USER fantail$/m)
  expect(values.podSecurityContext?.runAsUser).toBe(Number(uid))
})

test('every pod keeps to the restricted standard, and uses no API of Kubernetes but for the keys', () => {
  const pods = templates.filter((text) => text.includes('containers:'))
  expect(pods).toHaveLength(4)
  for (const text of pods) {
    expect(text).toContain('securityContext: {{ include "fantail.securityContext"')
    expect(text).toMatch(/include "fantail\.placement"|runAsNonRoot: true/)
  }
  expect(values.podSecurityContext).toMatchObject({
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  })
  const tokens = [...rendered.matchAll(/automountServiceAccountToken: (true|false)/g)].map(([, on]) => on)
  expect(tokens.filter((on) => on === 'true')).toHaveLength(1)
  expect(rendered).not.toMatch(/hostNetwork|hostPath|privileged: true|cluster-admin|kind: ClusterRole/)
})
