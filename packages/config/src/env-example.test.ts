import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { renderEnvExample } from './env-example.ts'
import { readApiSettings, readRedriveSettings, readWorkerSettings } from './services.ts'
import { apiTable, workerTable } from './tables.ts'

describe('.env.example', () => {
  it('is what the tables say (`npm run generate` writes it)', async () => {
    await expect(renderEnvExample()).toMatchFileSnapshot('../../../.env.example')
  })

  it('sets just what every service would have without it', () => {
    const env = parseEnv(renderEnvExample())
    expect(readApiSettings(env)).toEqual(readApiSettings({}))
    expect(readWorkerSettings(env)).toEqual(readWorkerSettings({}))
    expect(readRedriveSettings(env)).toEqual(readRedriveSettings({}))
  })

  it('names each setting once', () => {
    const lines = renderEnvExample().split('\n')
    for (const { name } of Object.values({ ...apiTable, ...workerTable })) {
      expect(lines.filter((line) => line.replace('# ', '').startsWith(`${name}=`))).toHaveLength(1)
    }
  })
})
