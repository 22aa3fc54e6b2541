/** The charts in a real browser: real counts, all states, both themes, the range in the address, and the table. */
import { fileURLToPath } from 'node:url'
import { waitFor } from '@fantail/test-kit'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useStack } from '../harness/services/stack.ts'
import { axeProblems, type ConsoleBrowser, startBrowser, whyNoBrowser } from './console-browser.ts'

const isLong = process.env.FANTAIL_BROWSER_LONG === '1' && whyNoBrowser === undefined
const PICTURES = fileURLToPath(new URL('../../docs/console/', import.meta.url))
const MESSAGES = 12

interface Counts {
  published: number[] | null
  delivered: number[]
}

describe.runIf(isLong)('charts', () => {
  const stack = useStack()
  let browser: ConsoleBrowser
  let id: string
  beforeAll(async () => {
    browser = await startBrowser(stack().api.url)
    const { client } = stack()
    for (const topic of ['busy', 'quiet']) await client.put(`/v1/topics/${topic}`)
    await client.put('/v1/queues/inbox')
    const subscribed = { endpoint: 'arn:aws:sqs:us-east-1:000000000000:inbox' }
    id = (await client.post<{ id: string }>('/v1/topics/busy/subscriptions', subscribed)).id
    for (let n = 0; n < MESSAGES; n++) await client.post('/v1/topics/busy/messages', { message: { n } })
    const sum = (counts: number[] | null) => (counts ?? []).reduce((total, count) => total + count, 0)
    await waitFor(async () => {
      const { published, delivered } = await client.get<Counts>('/v1/stats?topic=busy&range=15m')
      return sum(published) === MESSAGES && sum(delivered) === MESSAGES
    })
  })
  afterAll(() => browser?.close())

  const chart = (page: Page) => page.getByRole('img', { name: /^Chart of the .*delivered/ })
  /** Points of the canvas that are not empty. */
  const inkOf = (page: Page) =>
    page.evaluate<number>(`(() => {
      const canvas = document.querySelector('canvas')
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
      return data.filter((value, i) => i % 4 === 3 && value > 0).length
    })()`)

  test.each(['light', 'dark'] as const)(
    'overview, topic and subscription draw their counts, %s',
    async (theme) => {
      const page = await browser.open('/console/?range=15m', { theme })
      for (const [path, counted] of [
        ['/', `${MESSAGES} published, ${MESSAGES} delivered`],
        ['/topics/busy', `${MESSAGES} published, ${MESSAGES} delivered`],
        [`/subs/${id}`, `minutes: ${MESSAGES} delivered`],
      ]) {
        await page.goto(`${stack().api.url}/console${path}?range=15m`)
        await chart(page).waitFor()
        expect(await chart(page).getAttribute('aria-label')).toContain(counted)
        await page.locator('canvas').first().waitFor()
        await waitFor(async () => (await inkOf(page)) > 500)
        expect(await axeProblems(page)).toEqual([])
      }
      expect(browser.problems).toEqual([])
    },
  )

  test('the address holds the range, the other tab keeps it, and the table has the same counts', async () => {
    const page = await browser.open('/console/topics/busy')
    await chart(page).waitFor()
    await page.getByRole('link', { name: '24h', exact: true }).click()
    await page.getByRole('img', { name: /^Chart of the last 24 hours: 12 published/ }).waitFor()
    expect(new URL(page.url()).searchParams.get('range')).toBe('24h')
    await page.getByRole('tab', { name: 'Publish' }).click()
    expect(new URL(page.url()).searchParams.get('range')).toBe('24h')
    await page.getByText('The same as a table').press('Enter')
    const rows = await page.locator('details tbody tr').allTextContents()
    // Nothing was counted before the last steps, so neither the chart nor the table has more of them.
    expect(rows.length).toBeLessThan(30)
    expect(rows.filter((row) => row.includes('12'))).not.toEqual([])
    expect(await axeProblems(page)).toEqual([])
    await page.goto(`${stack().api.url}/console/topics/busy?range=nonsense`)
    await page.getByRole('img', { name: /^Chart of the last hour: / }).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('nothing counted, nothing kept and no answer are different states', async () => {
    const page = await browser.open('/console/topics/quiet')
    await page.getByText('Nothing was counted').waitFor()
    await page.route('**/v1/stats**', async (route) => {
      const response = await route.fetch()
      const none = {
        at: [],
        published: [],
        delivered: [],
        failed: [],
        deadLettered: [],
        p50Ms: [],
        p99Ms: [],
      }
      await route.fulfill({ json: { ...(await response.json()), ...none, kept: false } })
    })
    await page.reload()
    await page.getByText('No statistics are kept of this one').waitFor()
    await page.unroute('**/v1/stats**')
    const refusal = {
      error: { code: 'storage_unavailable', message: 'storage did not answer' },
      requestId: 'r',
    }
    await page.route('**/v1/stats**', (route) => route.fulfill({ status: 503, json: refusal }))
    await page.reload()
    await page.getByRole('alert').getByText('storage_unavailable').waitFor()
    await page.getByText('quiet').first().waitFor()
    expect(browser.problems).toEqual([])
  })

  test.each([
    ['light', 1100],
    ['dark', 1100],
    ['light', 320],
  ] as const)(
    'a busy day fits, and is a picture for the documents: %s, %i pixels wide',
    async (theme, width) => {
      const page = await browser.open('/console/topics/busy', { theme, width, height: 620 })
      await page.route('**/v1/stats**', (route) => route.fulfill({ json: busyDay() }))
      await page.goto(`${stack().api.url}/console/topics/busy?range=24h`)
      await waitFor(async () => (await page.locator('canvas').count()) === 2 && (await inkOf(page)) > 2_000)
      expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false)
      await page.locator('.u-over').first().hover()
      expect(await axeProblems(page)).toEqual([])
      if (theme === 'light' && width > 320)
        await page.screenshot({ path: `${PICTURES}topic.png`, fullPage: true })
      const folder = process.env.FANTAIL_PICTURES
      if (folder) await page.screenshot({ path: `${folder}/${theme}-${width}.png`, fullPage: true })
      expect(browser.problems).toEqual([])
    },
  )
})

/** Invented statistics: a day with two peaks, and an outage of half an hour. */
function busyDay() {
  const steps = 1_440
  const last = Math.floor(Date.now() / 60_000)
  const list = <T>(of: (step: number) => T) => Array.from({ length: steps }, (_, step) => of(step))
  const isOut = (step: number) => step > 900 && step < 930
  const published = list((n) => Math.round(400 + 300 * Math.sin(n / 115) + 40 * Math.sin(n / 3)))
  return {
    ...{ range: '24h', stepSeconds: 60, kept: true, complete: true, published },
    at: list((n) => new Date((last - steps + 1 + n) * 60_000).toISOString()),
    delivered: published.map((count, n) => (isOut(n) ? Math.round(count / 2) : count * 2)),
    failed: list((n) => (isOut(n) ? 380 : n % 240 === 7 ? 12 : 0)),
    deadLettered: list((n) => (n > 925 && n < 935 ? 60 : 0)),
    p50Ms: list((n) => 9 + 2 * Math.sin(n / 20)),
    p99Ms: list((n) => (n > 900 && n < 960 ? 42_000 - (n - 900) * 600 : 120 + 60 * Math.sin(n / 9))),
  }
}
