/** Every PromQL query of the dashboards and alerting rules, with its place. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const INFRA = fileURLToPath(new URL('../../infra/', import.meta.url))
export const RULES = join(INFRA, 'prometheus', 'alerts.yml')

interface Query {
  /** Where it stands. */
  name: string
  /** The query, with values for Grafana's variables. */
  expr: string
}

interface Box {
  x: number
  y: number
  w: number
  h: number
}

interface Panel {
  id: number
  title: string
  gridPos: Box
  targets?: { refId: string; expr: string }[]
}

interface Dashboard {
  templating: { list: { name: string; query: { query: string } }[] }
  panels: Panel[]
}

function dashboards(): [file: string, dashboard: Dashboard][] {
  const dir = join(INFRA, 'grafana', 'dashboards')
  return readdirSync(dir).map((file) => [file, JSON.parse(readFileSync(join(dir, file), 'utf8'))])
}

export function dashboardQueries(): Query[] {
  return dashboards().flatMap(([file, dashboard]) => {
    const variables = dashboard.templating.list.map(({ name, query }) => ({
      name: `${file}: variable ${name}`,
      expr: query.query.replace(/^label_values\((.*), \w+\)$/, '$1'),
    }))
    const panels = dashboard.panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ name: `${file}: ${title}`, expr: filledIn(expr) })),
    )
    return [...variables, ...panels]
  })
}

/** Panels that Grafana could not show correctly: two that overlap, or two with the same id. */
export function misplacedPanels(): string[] {
  return dashboards().flatMap(([file, { panels }]) =>
    panels.flatMap((panel, i) =>
      panels
        .slice(i + 1)
        .filter((other) => other.id === panel.id || overlap(other.gridPos, panel.gridPos))
        .map((other) => `${file}: ${panel.title} (${panel.id}) and ${other.title} (${other.id})`),
    ),
  )
}

function overlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
}

/** Grafana replaces a variable by a regular expression, and the interval by four scrapes. */
function filledIn(expr: string): string {
  return expr.replaceAll('$topic', '.*').replaceAll('$__rate_interval', '1m')
}

/** Functions, operators and keywords that the queries may use. Every other word is a metric. */
const WORDS = new Set(
  'sum max by rate increase histogram_quantile topk or unless and on absent label_replace vector le'.split(
    ' ',
  ),
)

/** The metrics in a query. Labels, matchers, ranges and strings are removed first. */
export function metricsOf(expr: string): string[] {
  const bare = expr
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}/g, ' ')
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .replaceAll(/\boffset \w+/g, ' ')
    .replaceAll(/\b(?:by|on) \([^)]*\)/g, ' ')
  const names = bare.match(/[a-zA-Z_:][a-zA-Z0-9_:]*/g) ?? []
  return [...new Set(names)].filter((name) => !WORDS.has(name))
}
