import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { apiTable, redriveTable, workerTable } from './tables.ts'

const SCHEMA = fileURLToPath(new URL('../../../infra/helm/fantail/values.schema.json', import.meta.url))
const NAMES = /(?<="settingName": \{.*"enum": \[\n)[^\]]*?(?=\n *\])/s

/** The chart itself sets some settings, and others would break its ports and probes. It has values for Redis. */
const OF_CHART = [
  ...['MODE', 'PORT', 'OPS_PORT', 'API_OPS_PORT', 'DATA_DIR', 'TIME_TRAVEL', 'HOSTS'],
  ...['MASTER_KEY', 'MASTER_KEYS_OLD', 'TLS_CERT_FILE', 'TLS_KEY_FILE'],
].map((name) => `FANTAIL_${name}`)
const isOfChart = (name: string) => OF_CHART.includes(name) || name.startsWith('REDIS_')

it('the chart takes each setting that it does not set itself (`npm run generate` writes the names)', async () => {
  const tables = { ...apiTable, ...workerTable, ...redriveTable }
  const names = Object.values(tables).flatMap(({ name }) => (isOfChart(name) ? [] : name))
  const lines = names.map((name) => `            "${name}"`).join(',\n')
  const schema = await readFile(SCHEMA, 'utf8')
  expect(schema).toMatch(NAMES)
  await expect(schema.replace(NAMES, lines)).toMatchFileSnapshot(SCHEMA)
})
