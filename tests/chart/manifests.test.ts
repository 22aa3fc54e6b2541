/** Checks of rendered manifests against each other. `infra/helm/check.mjs` renders them and names their file. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Rule {
  alert: string
  expr: string
}
interface Relabeling {
  regex: string
  targetLabel: string
  replacement: string
}
type Peer = Record<'podSelector' | 'namespaceSelector', { matchLabels: Record<string, string> } | undefined>
interface Rendered {
  kind: string
  metadata: { name: string; labels: Record<string, string> }
  spec: {
    ports?: { name: string }[]
    groups?: { rules: Rule[] }[]
    ingress?: { from?: Peer[] }[]
    endpoints?: { port: string; relabelings?: Relabeling[] }[]
  }
}

const FILE = process.env.FANTAIL_CHART_MANIFESTS
const COMPONENT = 'app.kubernetes.io/component'

function manifests(values: string): Rendered[] {
  return (JSON.parse(readFileSync(FILE ?? '', 'utf8')) as Record<string, Rendered[]>)[values] ?? []
}

test.skipIf(FILE === undefined)('alerts name the jobs that the ServiceMonitor gives to Services', () => {
  const all = manifests('hpa')
  const { endpoints = [] } = all.find(({ kind }) => kind === 'ServiceMonitor')?.spec ?? {}
  const jobs = all
    .filter(({ kind }) => kind === 'Service')
    .map(({ metadata, spec }) => {
      const endpoint = endpoints.find(({ port }) => spec.ports?.some(({ name }) => name === port))
      const labelled = endpoint?.relabelings?.find(({ regex }) => regex === metadata.labels[COMPONENT])
      return labelled?.targetLabel === 'job' ? labelled.replacement : metadata.name
    })
  const rules = all
    .find(({ kind }) => kind === 'PrometheusRule')
    ?.spec.groups?.flatMap((group) => group.rules)
  const named = rules?.flatMap(({ expr }) =>
    [...expr.matchAll(/job=~?"([^"]+)"/g)].map(([, job = '']) => job),
  )
  expect([...new Set(named?.flatMap((job) => job.split('|')))].toSorted()).toEqual(jobs.toSorted())
})

test.skipIf(FILE === undefined)('a policy for the API lets Prometheus and the test of the chart in', () => {
  const all = manifests('placed')
  const [policy, pod] = [
    ['NetworkPolicy', 'some-fantail-api'],
    ['Pod', 'some-fantail-test'],
  ].map(([kind, name]) => all.find((it) => it.kind === kind && it.metadata.name === name))
  const peers = policy?.spec.ingress?.flatMap(({ from = [] }) => from) ?? []
  expect(
    peers.flatMap(({ namespaceSelector }) => Object.values(namespaceSelector?.matchLabels ?? {})),
  ).toEqual(['ingress', 'monitoring'])
  const [selector = {}] = peers.flatMap(({ podSelector }) => (podSelector ? [podSelector.matchLabels] : []))
  expect(selector[COMPONENT]).toBe('test')
  expect(pod?.metadata.labels).toMatchObject(selector)
})
