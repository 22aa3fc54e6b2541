import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { apiTable, redriveTable, workerTable } from './tables.ts'

const SCHEMA = fileURLToPath(new URL('../../../infra/helm/fantail/values.schema.json', import.meta.url))
const NAMES = /(?<="settingName": \{.*"enum": \[\n)[^\]]*?(?=\n *\])/s

/** The chart itself sets some settings, and others would break its ports and probes. It has values for Redis. */
const OF_CHART =
  /^(REDIS_.*|FANTAIL_(MODE|(API_)?(OPS_)?PORT|DATA_DIR|TIME_TRAVEL|HOSTS|MASTER_KEY(S_OLD)?|TLS_(CERT|KEY)_FILE))$/

it('the chart takes each setting that it does not set itself (`npm run generate` writes the names)', async () => {
  const tables = { ...apiTable, ...workerTable, ...redriveTable }
  const names = Object.values(tables).flatMap(({ name }) => (OF_CHART.test(name) ? [] : name))
  const lines = names.map((name) => `            "${name}"`).join(',\n')
  const schema = await readFile(SCHEMA, 'utf8')
  expect(schema).toMatch(NAMES)
  await expect(schema.replace(NAMES, lines)).toMatchFileSnapshot(SCHEMA)
})
