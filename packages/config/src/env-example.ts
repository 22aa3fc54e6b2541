/** The text of `.env.example`. It is made from the tables of settings, so it always agrees with them. */
import type { Setting } from './setting.ts'
import { apiTable, receiverTable, redriveTable, workerTable } from './tables.ts'

const SERVICES = {
  'publish-api': apiTable,
  'delivery-worker': workerTable,
  redrive: redriveTable,
  'example receiver': receiverTable,
}

const HEAD = `# Every setting of Fantail with its default. Services read the environment only; this file is an example
# (\`node --env-file=.env\`, compose). A commented line is unset, and so is an empty value.
`

const FOOT = `# Metrics are served at /metrics. Traces, and metrics that are sent, follow OpenTelemetry's own variables:
# OTEL_EXPORTER_OTLP_ENDPOINT=
`

/** Each setting has its description, the services that read it, and its unit. Blank lines separate the settings. */
export function renderEnvExample(): string {
  const settings = new Map<string, Setting<unknown>>()
  for (const table of Object.values(SERVICES)) {
    for (const setting of Object.values(table)) settings.set(setting.name, setting)
  }
  return [HEAD, ...[...settings.values()].map(renderSetting), FOOT].join('\n')
}

function renderSetting(setting: Setting<unknown>): string {
  const readers = Object.entries(SERVICES)
    .filter(([, table]) => Object.values(table).some(({ name }) => name === setting.name))
    .map(([service]) => service)
  const who = readers.length === Object.keys(SERVICES).length ? 'all services' : readers.join(', ')
  const notes = [
    setting.unit && `unit: ${setting.unit}`,
    setting.unset && `unset: ${setting.unset}`,
    `read by ${who}`,
  ]
  const line = setting.default === undefined ? `# ${setting.name}=` : `${setting.name}=${setting.default}`
  return `# ${setting.description}\n# (${notes.filter(Boolean).join('; ')})\n${line}\n`
}
