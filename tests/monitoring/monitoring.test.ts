import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type PrometheusTools,
  providePrometheusTools,
} from '../../infra/bootstrap/tools/prometheus-tools.mjs'
import { Ledger } from '../harness/ledgers/ledger.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { useStack } from '../harness/services/stack.ts'
import { textOf } from '../repo/repository.ts'
import { ask, output, type Prometheus, startPrometheus } from './prometheus.ts'
import { dashboardQueries, INFRA, metricsOf, misplacedPanels, RULES } from './queries.ts'

const ALERTMANAGER = join(INFRA, 'alertmanager', 'alertmanager.yml')

const found = await providePrometheusTools(process.env)

// The settings of a reliable server. With other settings an alert warns of data loss.
const stack = useStack({ redrive: true, redis: { appendfsync: 'everysec' } })
const receiver = useReceiver()

/** Metrics that Prometheus itself adds for every target. */
const OWN_METRICS = ['up']

/** Names of the metrics that at least one service shows, with the series of histograms. */
async function scrapedMetrics(): Promise<Set<string>> {
  const texts = await Promise.all(
    stack()
      .services()
      .map(async (service) => (await fetch(`${service.url}/metrics`)).text()),
  )
  const names = texts.flatMap((text) =>
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  )
  return new Set([...OWN_METRICS, ...names])
}

/** The text of the rules has an `expr:` for each rule, on one or several lines. */
function ruleQueries() {
  const rules = readFileSync(RULES, 'utf8')
    .split(/^ {6}- alert: /m)
    .slice(1)
  return rules.map((rule) => ({
    name: `alert ${rule.slice(0, rule.indexOf('\n'))}`,
    expr: /^ {8}expr: (?:\|\n)?([\s\S]*?)\n {8}\w/m.exec(rule)?.[1] ?? '',
  }))
}

const QUERIES = [...dashboardQueries(), ...ruleQueries()]

it('only metrics that a service shows stand in dashboards and alerts', async () => {
  await waitFor(async () => (await scrapedMetrics()).has('bullmq_jobs_completed_total'), {
    what: 'the first sweep to end',
    timeoutMs: 30_000,
  })
  const shown = await scrapedMetrics()
  const unknown = QUERIES.flatMap(({ name, expr }) =>
    metricsOf(expr)
      .filter((metric) => !shown.has(metric))
      .map((metric) => `${name}: ${metric}`),
  )

  expect(unknown).toEqual([])
  expect(QUERIES.filter(({ expr }) => metricsOf(expr).length === 0)).toEqual([])
})

it('every metric of Fantail’s own stands in a dashboard, and every panel in its place', async () => {
  const asked = new Set(
    dashboardQueries()
      .flatMap(({ expr }) => metricsOf(expr))
      .map(familyOf),
  )
  const shown = [...(await scrapedMetrics())].filter((metric) => metric.startsWith('fantail_'))

  expect(shown.filter((metric) => !asked.has(familyOf(metric)))).toEqual([])
  expect(misplacedPanels()).toEqual([])
})

/** The name of the histogram, if `name` is the name of one of its series. */
function familyOf(metric: string): string {
  return metric.replace(/_(?:bucket|sum|count)$/, '')
}

describe('Prometheus', () => {
  let tools: PrometheusTools
  let prometheus: Prometheus | undefined

  beforeEach((context) => {
    if (typeof found === 'string') context.skip(found)
  })

  beforeAll(async () => {
    if (typeof found === 'string') return
    tools = found
    prometheus = await startPrometheus(tools.prometheus, scrapeConfig())
  }, 60_000)

  afterAll(() => prometheus?.stop())

  const url = () => prometheus?.url ?? ''

  /** The jobs of the real file, with the targets of this test. */
  function scrapeConfig(): string {
    const { api, workers, redrive } = stack()
    const targets = { 'publish-api': [api], 'delivery-worker': workers, redrive: [redrive] }
    const jobs = Object.entries(targets).map(([job_name, services]) => ({
      job_name,
      static_configs: [{ targets: services.map((service) => new URL(service?.url ?? '').host) }],
    }))
    const global = { scrape_interval: '1s', evaluation_interval: '1s' }
    // JSON is YAML, too.
    return JSON.stringify({ global, rule_files: [RULES], scrape_configs: jobs })
  }

  it('accepts its configuration and its rules', async () => {
    const checked = await output(tools.promtool, [
      'check',
      'config',
      join(INFRA, 'prometheus', 'prometheus.yml'),
    ])

    expect(checked).toContain(`SUCCESS: ${ruleQueries().length} rules found`)
  })

  it('has an Alertmanager that starts when it knows where alerts go, and refuses before', async () => {
    await expect(output(tools.amtool, ['check-config', ALERTMANAGER])).rejects.toMatchObject({
      stdout: expect.stringContaining('unsupported scheme'),
    })

    const folder = await mkdtemp(join(tmpdir(), 'fantail-alertmanager-'))
    try {
      // The command of the container, with this folder in place of the container's.
      const started = /^ {2}alertmanager:\n[\s\S]*?- >-\n([\s\S]*?)\n {4}command/m.exec(
        textOf('infra/compose.yaml'),
      )?.[1]
      const script = (started ?? '')
        .replaceAll('$$', '$')
        .replaceAll('/etc/alertmanager/alertmanager.yml', ALERTMANAGER)
        .replaceAll('/tmp/', `${folder}/`)
        .replace(/exec alertmanager[^\n]*/, `${tools.amtool} check-config ${folder}/alertmanager.yml`)
        .replaceAll('\n', ' ')
      const run = (url: string) => output('env', [`ALERT_WEBHOOK_URL=${url}`, 'sh', '-c', script])
      await expect(run('')).rejects.toMatchObject({
        stdout: expect.stringContaining('set ALERT_WEBHOOK_URL'),
      })
      const url = 'https://pager.example/hook?team=a&silent=no|maybe'
      expect(await run(url)).toContain('SUCCESS')
      expect(readFileSync(join(folder, 'alertmanager.yml'), 'utf8')).toContain(`- url: ${url}\n`)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('has rules that fire when they should and not before', async () => {
    const rules = join(INFRA, 'prometheus', 'alerts-firing.yml')

    expect(await output(tools.promtool, ['test', 'rules', rules])).toContain('SUCCESS')
  })

  it('fires at a topic’s first dead letter, discarded delivery and missing queue', async () => {
    const { client } = stack()
    const endpoint = `${receiver().url}/refuses`
    receiver().respond('/refuses', { status: 404 })
    await Promise.all(['letters', 'removed'].map((queue) => client.put(`/v1/queues/${queue}`)))
    const queues = { 'to-letters': 'letters', 'to-nowhere': undefined, 'to-removed': 'removed' }
    for (const [topic, queue] of Object.entries(queues)) {
      const redrivePolicy = queue === undefined ? null : { deadLetterTargetArn: queue }
      await client.put(`/v1/topics/${topic}`)
      await client.post(`/v1/topics/${topic}/subscriptions`, { endpoint, redrivePolicy })
    }
    await client.delete('/v1/queues/removed')
    for (const topic of Object.keys(queues)) {
      await client.post(`/v1/topics/${topic}/messages`, { message: 'refused' })
    }
    const firing = async () => {
      const alerts = await ask(url(), 'ALERTS{alertstate="firing"}')
      return alerts
        .map(({ metric: { alertname, topic, cause } }) => [alertname, topic, cause].join(' ').trim())
        .sort()
    }
    const expected = [
      'FantailDeadLetterQueueMissing to-removed',
      'FantailDeadLetters to-letters',
      'FantailDeliveriesLost to-nowhere permanent',
    ]
    await waitFor(async () => (await firing()).length >= expected.length, { what: 'the alerts to fire' })

    expect(await firing()).toEqual(expected)
  })

  it('evaluates every query of dashboards and alerts over a scrape of every service', async () => {
    const ledger = await Ledger.open({
      stack: stack(),
      receiver: receiver(),
      topic: 'monitored',
      subscriptions: { '/monitored': {} },
    })
    await ledger.publish('hello')
    await ledger.whenSettled()
    await waitFor(
      async () => (await ask(url(), 'sum(fantail_deliveries_delivered_total)'))[0]?.value[1] === '1',
      {
        what: 'the delivery to be scraped',
        timeoutMs: 25_000,
      },
    )
    await waitFor(async () => (await ask(url(), 'sum(up)'))[0]?.value[1] === '3', {
      what: 'every service to be scraped',
      timeoutMs: 25_000,
    })
    const results = await Promise.allSettled(QUERIES.map(({ expr }) => ask(url(), expr)))

    expect(results.filter(({ status }) => status === 'rejected')).toEqual([])
  })

  it('sees every rule evaluate', async () => {
    const rules = async () => {
      const answer = await fetch(`${url()}/api/v1/rules`)
      const { data } = (await answer.json()) as { data: { groups: { rules: { health: string }[] }[] } }
      return data.groups.flatMap((group) => group.rules.map(({ health }) => health))
    }
    await waitFor(async () => !(await rules()).includes('unknown'), { what: 'the rules to be evaluated' })

    expect(new Set(await rules())).toEqual(new Set(['ok']))
  })
})

it('every alert wakes somebody or waits, and names a section of a guide that has its row', () => {
  const alerts = readFileSync(RULES, 'utf8')
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((text) => ({
      name: text.slice(0, text.indexOf('\n')),
      severity: /severity: (\w+)/.exec(text)?.[1],
      link: /^ {10}runbook_url: (\S+)$/m.exec(text)?.[1] ?? '',
    }))
  const lost = alerts.filter(({ name, severity, link }) => {
    const [path = '', anchor = ''] = link.split('#')
    const section = sectionsOf(path === '' ? '' : textOf(path)).get(anchor)
    return !['page', 'ticket'].includes(severity ?? '') || !section?.includes(`\`${name}\``)
  })
  expect(lost).toEqual([])
  expect(alerts.length).toBe(ruleQueries().length)
})

/** The text below each heading, by the anchor that GitHub makes of it. */
function sectionsOf(guide: string): Map<string, string> {
  const sections = guide.split(/^## /m).slice(1)
  return new Map(
    sections.map((text) => [text.slice(0, text.indexOf('\n')).toLowerCase().replaceAll(' ', '-'), text]),
  )
}
