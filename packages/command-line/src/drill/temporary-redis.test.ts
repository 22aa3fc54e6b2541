import { readFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { redisServerPath } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { afterAll, expect, test, vi } from 'vitest'
import { withRestored } from './temporary-redis.ts'

const { redis } = await useRedis()
vi.stubEnv('PATH', [dirname(redisServerPath()), process.env.PATH].join(delimiter))
afterAll(() => vi.unstubAllEnvs())

test.skipIf(process.platform !== 'linux')(
  'a machine without free memory ends the restored Redis, and not the one that runs beside it',
  async () => {
    await redis.set('key', 'v')
    await redis.save()
    const [, folder = ''] = (await redis.config('GET', 'dir')) as string[]
    const score = await withRestored(join(folder, 'dump.rdb'), async (restored) => {
      expect(await restored.get('key')).toBe('v')
      const [, pid] = /^process_id:(\d+)/m.exec(await restored.info('server')) ?? []
      return await readFile(`/proc/${pid}/oom_score_adj`, 'utf8')
    })
    expect(Number(score)).toBe(1_000)
  },
)
