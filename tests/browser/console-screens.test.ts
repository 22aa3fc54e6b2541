/**
 * Tests beyond the smoke test. They check every address by the rules of accessibility, in both themes and on a narrow
 * screen. They also check states without data and without an answer, hostile bodies, and make the pictures of
 * docs/console.md. `npm run test:browser` runs them in a minute.
 */
import { fileURLToPath } from 'node:url'
import { startReceiver, waitFor } from '@fantail/test-kit'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Stack, useStack } from '../harness/services/stack.ts'
import { axeProblems, type ConsoleBrowser, startBrowser, whyNoBrowser } from './console-browser.ts'
import {
  allPaths,
  deadLetters,
  KEPT,
  longNames,
  makePausedLanes,
  NOBODY,
  subscribeNobody,
} from './console-paths.ts'

const isLong = process.env.FANTAIL_BROWSER_LONG === '1' && whyNoBrowser === undefined
const HOSTILE = '<img src=x onerror="document.title=1"> invoice\u202efdp.exe'
const PICTURES = fileURLToPath(new URL('../../docs/console/', import.meta.url))

interface Letter {
  messageId: string
  published: { attributes: object }
}

/** Attributes of the dead letters that have some. */
async function attributesOfLetters({ client }: Stack): Promise<object[]> {
  const queue = '/v1/queues/refused/messages'
  const { messages } = await client.get<{ messages: Letter[] }>(queue)
  const letters = await Promise.all(
    messages.map(({ messageId }) => client.get<Letter>(`${queue}/${messageId}`)),
  )
  return letters.map(({ published }) => published.attributes).filter((found) => Object.keys(found).length > 0)
}

describe.runIf(isLong)('the console', () => {
  const stack = useStack({ redrive: true })
  let browser: ConsoleBrowser
  let seeded: { id: string; messageId: string }
  beforeAll(async () => {
    browser = await startBrowser(stack().api.url)
    seeded = await subscribeNobody(stack())
    await longNames(stack())
  })
  afterAll(() => browser?.close())

  async function visit(page: Page, path: string): Promise<void> {
    await page.goto(`${stack().api.url}/console${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
  }

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 320],
  ] as const)(
    'every address keeps the rules of accessibility, %s, %i pixels wide',
    async (theme, width) => {
      const page = await browser.open('/console/', { theme, width })
      const found: unknown[] = []
      for (const path of [...allPaths(seeded.id), `/messages/${seeded.messageId}`]) {
        await visit(page, path)
        found.push(...(await axeProblems(page)).map((problem) => [path, problem]))
        const isWider = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
        if (isWider) found.push([path, `wider than ${width} pixels`])
      }
      expect(found).toEqual([])
      expect(browser.problems).toEqual([])
    },
    240_000,
  )

  test('lists without rows name the next step', async () => {
    const page = await browser.open('/console/topics?prefix=nothing-like-it')
    await page.getByText('No topic begins with nothing-like-it').waitFor()
    await visit(page, '/dlq/shop-dead')
    await page.getByText('No dead letters').first().waitFor()
    await visit(page, '/system')
    await page.getByText('The quarantine is empty').waitFor()
  })

  test.each([
    ['/topics/nothing', 'The topic does not exist', 'Topics'],
    ['/queues/nothing', 'The queue does not exist', 'Queues'],
    ['/dlq/nothing', 'The queue does not exist', 'Dead letters'],
    ['/redrives/0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012', 'The redrive does not exist', 'Dead letters'],
    ['/bulk/0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012', 'The task does not exist', 'Tasks'],
    ['/messages/0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012', 'This message is not known', 'Messages'],
  ])('%s is not there, and leads to what is', async (path, title, list) => {
    const page = await browser.open(`/console${path}`)
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    await page.locator('main').getByRole('link', { name: list }).click()
    await page.getByRole('heading', { level: 1, name: list }).waitFor()
    expect(await axeProblems(page)).toEqual([])
  })

  test('a subscription leads to its dead-letter queue by name, and the queue to its topic', async () => {
    const page = await browser.open(`/console/subs/${seeded.id}`)
    await page.locator('main').getByRole('link', { name: 'shop-dead', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'shop-dead' }).waitFor()
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByRole('link', { name: 'subscription of shop' }).click()
    await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor()
  })

  test('in a narrow window the chosen page and tab are in sight, and a wider one leaves no gap', async () => {
    const page = await browser.open(`/console/subs/${seeded.id}?tab=settings`, { width: 320 })
    const tab = page.getByRole('tab', { name: 'Settings' })
    await tab.waitFor()
    const { x, width } = (await tab.boundingBox()) ?? { x: Number.NaN, width: Number.NaN }
    expect([x >= 0, x + width <= 320]).toEqual([true, true])
    const gap = async (of: Page) => (await of.getByRole('button', { name: 'Pause' }).boundingBox())?.y
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.setViewportSize({ width: 1280, height: 800 })
    const wide = await browser.open(`/console/subs/${seeded.id}`)
    // Both may still move while data arrive.
    await waitFor(async () => (await gap(page)) === (await gap(wide)))
    await visit(page, '/system')
    await page.setViewportSize({ width: 320, height: 800 })
    await visit(page, '/system')
    expect((await page.getByRole('link', { name: 'System' }).boundingBox())?.x).toBeLessThan(320)
    expect((await page.getByRole('button', { name: 'Go to' }).boundingBox())?.y).toBeGreaterThan(3)
  })

  test('a refusal of the API shows code and request, and can be asked again', async () => {
    const page = await browser.open('/console/lanes?topic=no%20such')
    await page.getByRole('alert').getByText('validation_failed').waitFor()
    await page.getByText(/^request /).waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
  })

  test('a hostile body never becomes markup, and shows what is hidden in it', async () => {
    const client = stack().client
    await client.put('/v1/queues/hostile')
    const bodies = [
      '<img src=x onerror="document.title=1">',
      '</pre><script>document.title=1</script>',
      'invoice\u202efdp.exe \u200b',
      'javascript:alert(1)',
      '{"a":"<svg onload=alert(1)>","b":12345678901234567890}',
    ]
    for (const body of bodies) await client.post('/v1/queues/hostile/messages', { body })
    const page = await browser.open('/console/queues/hostile')
    for (const [index, body] of bodies.entries()) {
      await page.locator('tbody button').nth(index).click()
      const text = await page.getByRole('dialog').locator('pre').textContent()
      const shown = body.replace('\u202e', 'U+202E').replace('\u200b', 'U+200B')
      expect(text).toBe(shown)
      expect(await page.locator('pre *:not(span)').count()).toBe(0)
      await page.keyboard.press('Escape')
    }
    expect(await page.title()).toContain('hostile')
    expect(browser.problems).toEqual([])
  })

  test('a kept message is shown as text, sent again, and tried on a filter', async () => {
    const { client } = stack()
    await client.put('/v1/topics/kept', { keepMessages: KEPT })
    await client.put('/v1/queues/kept-inbox')
    const inbox = { endpoint: 'arn:aws:sqs:us-east-1:000000000000:kept-inbox', rawMessageDelivery: true }
    const { id } = await client.post<{ id: string }>('/v1/topics/kept/subscriptions', inbox)
    const message = '<img src=x onerror="document.title=1"> \u202egnp'
    const published = { message, attributes: { size: 7 } }
    const { messageId } = await client.post<{ messageId: string }>('/v1/topics/kept/messages', published)
    const visible = async () => {
      const { counts } = await client.get<{ counts: { visible: number } }>('/v1/queues/kept-inbox')
      return counts.visible
    }
    await waitFor(async () => (await visible()) === 1)
    const page = await browser.open(`/console/messages/${messageId}`)
    const shown = page.locator('pre')
    await shown.waitFor()
    expect(await shown.textContent()).toBe(message.replace('\u202e', 'U+202E'))
    await page.getByRole('button', { name: /^Resend to / }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Resend', exact: true }).click()
    await page.getByRole('cell', { name: /resent/ }).waitFor()
    await waitFor(async () => (await visible()) === 2)
    await visit(page, '/topics/kept?tab=filter')
    await page.getByLabel('Filter policy').fill('{ "size": [{ "numeric": [">", 9] }] }')
    await page.getByRole('button', { name: 'Try it on them' }).click()
    await page.getByText('0 of 1 message let through.').waitFor()
    await visit(page, '/topics/kept?tab=kept')
    await visit(page, `/subs/${id}`)
    await page.getByRole('button', { name: 'Resend since…' }).click()
    await page.getByText('Kept since then: 1 message.').waitFor()
    // The message was delivered.
    await page.getByText('Only failed deliveries').click()
    await page.getByRole('button', { name: 'Start the resend' }).click()
    await page.getByText('100 %: 1 of 1 resent').waitFor()
    await waitFor(async () => (await visible()) === 3)
    expect(browser.problems).toEqual([])
  })

  test('a lane in trouble names the next step and makes it, and its row stays in place', async () => {
    const { client } = stack()
    await client.put('/v1/topics/troubled')
    await client.put('/v1/queues/lost-dead')
    const settings = {
      endpoint: `${NOBODY}/troubled`,
      deliveryPolicy: { healthyRetryPolicy: { numRetries: 0 } },
      redrivePolicy: { deadLetterTargetArn: 'lost-dead' },
    }
    const { id } = await client.post<{ id: string }>('/v1/topics/troubled/subscriptions', settings)
    await client.delete('/v1/queues/lost-dead')
    await client.post('/v1/topics/troubled/messages', { message: 'x' })
    const verdict = async () =>
      (await client.get<{ verdict: { code: string } }>(`/v1/subscriptions/${id}`)).verdict.code
    await waitFor(async () => (await verdict()) === 'dlqMissing')
    const page = await browser.open('/console/lanes?topic=troubled&state=inNeed')
    await page.getByRole('button', { name: /^What to do for / }).click()
    const step = page.getByRole('region', { name: 'Next step' })
    await step.getByText('Create the dead-letter queue').waitFor()
    await step.getByText('The last attempt ended with connection_refused').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await step.getByRole('button', { name: 'Create the queue lost-dead' }).click()
    await page.getByText('Nothing is wrong now').waitFor()
    await page.getByRole('link', { name: '1 dead letter in lost-dead' }).waitFor()
    // The row agrees with its panel, and the heading accounts for it.
    const row = page.locator('tbody tr', { hasText: '/troubled' })
    await row.getByText('left the list').waitFor()
    expect(await row.textContent()).toMatch(/^.?fine.*Nothing waits\./)
    await page.getByText(/^0 lanes, 0 waiting deliveries\. 1 more row no longer belongs here/).waitFor()
    const panel = page.locator('tr[data-under]')
    await panel.getByRole('button', { name: 'Pause' }).click()
    await step.getByText(/^Paused by an anonymous request/).waitFor()
    await row.getByText('The subscription is paused').waitFor()
    await panel.getByText('Nothing is sent while the lane is paused').waitFor()
    expect(await panel.getByRole('button', { name: /^Retry now/ }).isDisabled()).toBe(true)
    expect(await axeProblems(page)).toEqual([])
    await panel.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('Nothing is wrong now').waitFor()
    await client.delete(`/v1/subscriptions/${id}`)
    expect(browser.problems).toEqual([])
  })

  test('a quota is set, shown with what is used, and removed', async () => {
    const { client } = stack()
    await client.put('/v1/topics/bounded-a')
    const page = await browser.open('/console/access?tab=quotas')
    await page.getByText('No quotas yet').waitFor()
    await page.getByRole('button', { name: 'Set a quota' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Names that begin with').fill('bounded-')
    await dialog.getByLabel('Topics').fill('3')
    expect(await axeProblems(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Set a quota' }).click()
    const row = page.locator('tbody tr', { hasText: 'bounded-' })
    await row.getByText('1 of 3').waitFor()
    await row.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No quotas yet').waitFor()
    expect(browser.problems).toEqual([])
  })

  test('ten lanes stand on a screen of 800 pixels, and all of a filter are paused by a plan and undone', async () => {
    const { client } = stack()
    const crowd = `crowd-${'eu-central-'.repeat(10)}orders`
    await client.put(`/v1/topics/${crowd}`)
    const path = 'incoming'.repeat(20)
    // Five failures in a row, so that each row has the longest verdict.
    const healthyRetryPolicy = {
      numRetries: 9,
      numNoDelayRetries: 5,
      minDelayTarget: 600,
      maxDelayTarget: 600,
    }
    for (let n = 0; n < 12; n++)
      await client.post(`/v1/topics/${crowd}/subscriptions`, {
        endpoint: `${NOBODY}/${n}/${path}`,
        deliveryPolicy: { healthyRetryPolicy },
      })
    await client.post(`/v1/topics/${crowd}/messages`, { message: 'x' })
    const failing = `/v1/lanes?topic=${crowd}&state=failing`
    await waitFor(async () => (await client.get<{ matched: number }>(failing)).matched === 12)
    const page = await browser.open(`/console/lanes?topic=${crowd}`)
    const rows = page.locator('tbody tr')
    await rows.nth(11).waitFor()
    const boxes = await Promise.all(Array.from({ length: 12 }, (_, n) => rows.nth(n).boundingBox()))
    expect(boxes.filter((box) => box && box.y + box.height <= 800).length).toBeGreaterThanOrEqual(10)
    // Every column is in sight, and a long name of a topic makes no row higher.
    const table = page.getByRole('table', { name: 'Lanes' })
    expect((await table.boundingBox())?.width).toBeLessThan(1280)
    expect(await axeProblems(page)).toEqual([])
    await page
      .getByRole('checkbox', { name: /^Choose http/ })
      .nth(1)
      .check()
    await page.getByText('1 row chosen:').waitFor()
    await page.getByRole('button', { name: 'Oldest' }).click()
    expect(await page.getByRole('columnheader', { name: 'Oldest' }).getAttribute('aria-sort')).toBe(
      'descending',
    )
    await page.getByText('1 row chosen:').waitFor()
    await page.getByRole('button', { name: 'Choose none' }).click()
    await page.getByRole('button', { name: 'Plan …' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/^pause 12 lanes, /).waitFor()
    expect(await axeProblems(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Carry it out' }).click()
    await page.getByRole('heading', { level: 1, name: /^pause 12 lanes/ }).waitFor()
    await page.getByText('completed').waitFor()
    await page.getByText('12 of 12').waitFor()
    expect(await axeProblems(page)).toEqual([])
    const active = async () =>
      (await client.get<{ subscriptions: object[] }>(`/v1/subscriptions?topic=${crowd}&status=active`))
        .subscriptions.length
    expect(await active()).toBe(0)
    const start = await browser.open('/console/')
    // An answer of two seconds ago may still call them failing.
    const paused = start.getByRole('listitem').filter({ hasText: 'paused' })
    await paused.getByRole('link', { name: '12 lanes of 127.0.0.1:9' }).click()
    await start.getByText('Only lanes of 127.0.0.1:9.').waitFor()
    await start.getByText(/^12 lanes, /).waitFor()
    expect(await start.getByLabel('Action').inputValue()).toBe('resume')
    await start.getByLabel('Verdict').selectOption('failing')
    expect(await start.getByLabel('Action').inputValue()).toBe('retry')
    await start.getByLabel('Action').selectOption('test')
    await start.getByLabel('Verdict').selectOption('paused')
    expect(await start.getByLabel('Action').inputValue()).toBe('test')
    await start.getByText(/^12 lanes, /).waitFor()
    expect(await axeProblems(start)).toEqual([])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('heading', { level: 1, name: /^resume 12 lanes/ }).waitFor()
    await waitFor(async () => (await active()) === 12)
    const phone = await browser.open(`/console/lanes?topic=${crowd}`, { width: 390, theme: 'dark' })
    await phone.locator('tbody tr').first().waitFor()
    expect(await axeProblems(phone)).toEqual([])
    expect(await phone.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await client.delete(`/v1/topics/${crowd}`)
    expect(browser.problems).toEqual([])
  })

  test('an open row keeps the answer of its test while the list grows past a hundred rows', async () => {
    const { client } = stack()
    await makePausedLanes(stack(), 110, 1)
    const query = 'topic=busy-0&state=paused&sort=oldest'
    const page = await browser.open(`/console/lanes?${query}`)
    await page.getByText('100 rows shown, there are more').waitFor()
    await page
      .getByRole('button', { name: /^What to do for / })
      .first()
      .click()
    const panel = page.locator('tr[data-under]')
    await panel.getByRole('button', { name: 'Test', exact: true }).click()
    const answer = panel.getByText(/^The endpoint answered|^The test/)
    await answer.waitFor()
    const { lanes } = await client.get<{ lanes: { subscriptionId: string }[] }>(
      `/v1/lanes?${query}&limit=100`,
    )
    for (const { subscriptionId } of lanes.slice(-3))
      await client.delete(`/v1/subscriptions/${subscriptionId}`)
    await page.getByText('103 rows shown, there are more').waitFor()
    expect(await answer.isVisible()).toBe(true)
    await client.delete('/v1/topics/busy-0')
    browser.problems.length = 0
  })

  test.each([
    [0, 'groupBlocked'],
    [5, 'failing'],
  ])(
    'a message that blocks its group after %i retries is set aside from the board',
    async (retries, code) => {
      const { client } = stack()
      const hooks = await startReceiver()
      hooks.respond('/blocked', ({ text }) => ({ status: text.includes('bad') ? 503 : 200 }))
      const name = `blocked-${retries}`
      await client.put(`/v1/topics/${name}.fifo`, { contentBasedDeduplication: true })
      const delays = { minDelayTarget: 600, maxDelayTarget: 600 }
      const healthyRetryPolicy = { numRetries: 9, numNoDelayRetries: retries, ...delays }
      const settings = { endpoint: `${hooks.url}/blocked`, deliveryPolicy: { healthyRetryPolicy } }
      const { id } = await client.post<{ id: string }>(`/v1/topics/${name}.fifo/subscriptions`, settings)
      for (const message of ['bad', 'next'])
        await client.post(`/v1/topics/${name}.fifo/messages`, { message, groupId: 'a' })
      const verdict = async () =>
        (await client.get<{ verdict: { code: string } }>(`/v1/subscriptions/${id}`)).verdict.code
      await waitFor(async () => (await verdict()) === code)
      const page = await browser.open(`/console/lanes?topic=${name}.fifo`)
      await page.getByRole('button', { name: /^What to do for / }).click()
      await page.getByText('The group a waits for the message').waitFor()
      const start = await browser.open('/console/')
      await start
        .getByRole('listitem')
        .filter({ hasText: `subscription of ${name}.fifo` })
        .getByText(/group a waits for .*message/i)
        .waitFor()
      await page.getByRole('button', { name: 'Set this message aside' }).click()
      await page.getByRole('link', { name: `1 dead letter in ${name}-dead-letters.fifo` }).waitFor()
      await waitFor(async () => (await verdict()) === 'fine')
      await hooks.close()
      expect(browser.problems).toEqual([])
    },
  )

  test('waiting deliveries are retried at once, the result says what happened, and Escape leaves the dialog', async () => {
    const { client } = stack()
    const hooks = await startReceiver()
    hooks.respond('/down', { status: 503 })
    await client.put('/v1/topics/mending')
    const healthyRetryPolicy = { numRetries: 9, minDelayTarget: 600, maxDelayTarget: 600 }
    const settings = { endpoint: `${hooks.url}/down`, deliveryPolicy: { healthyRetryPolicy } }
    const { id } = await client.post<{ id: string }>('/v1/topics/mending/subscriptions', settings)
    await client.post('/v1/topics/mending/messages', { message: 'x' })
    const waiting = async () =>
      (await client.get<{ lane: { waiting: number } }>(`/v1/subscriptions/${id}`)).lane.waiting
    await waitFor(async () => (await waiting()) === 1)
    hooks.respond('/down', { status: 200 })
    const page = await browser.open(`/console/subs/${id}`)
    await page.getByRole('button', { name: 'Retry now' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('1 waiting delivery gets its next attempt.').waitFor()
    await dialog.getByRole('button', { name: 'Retry now' }).click()
    await dialog.getByText('1 delivery comes earlier. No delivery waits any more.').waitFor()
    expect(await dialog.getByRole('button', { name: 'Retry now' }).isDisabled()).toBe(true)
    expect(await dialog.getByRole('button', { name: 'Close this dialog' }).isEnabled()).toBe(true)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await page.title()).toBe(`${hooks.url}/down · Subscription · Fantail`)
    await page.getByRole('button', { name: 'Resend since…' }).click()
    await dialog.getByText('The topic keeps no messages').waitFor()
    expect(await dialog.getByRole('button', { name: 'Start the resend' }).isDisabled()).toBe(true)
    await dialog.getByRole('button', { name: 'Close this dialog' }).click()
    await hooks.close()
    expect(browser.problems).toEqual([])
  })

  test('a retry of a lane with an open circuit says what the circuit does', async () => {
    const { client } = stack()
    const hooks = await startReceiver()
    hooks.respond('/down', { status: 503 })
    await client.put('/v1/topics/open-circuit')
    const settings = { endpoint: `${hooks.url}/down`, circuitBreaker: { failures: 1, probeSeconds: 600 } }
    const { id } = await client.post<{ id: string }>('/v1/topics/open-circuit/subscriptions', settings)
    await client.post('/v1/topics/open-circuit/messages', { message: 'first' })
    const lane = async () =>
      (await client.get<{ lane: { circuit: string; waiting: number } }>(`/v1/subscriptions/${id}`)).lane
    await waitFor(async () => (await lane()).circuit === 'open')
    for (const message of ['second', 'third'])
      await client.post('/v1/topics/open-circuit/messages', { message })
    await waitFor(async () => (await lane()).waiting === 3)
    const page = await browser.open(`/console/subs/${id}`)
    await page.getByRole('button', { name: 'Retry now' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Retry now' }).click()
    await dialog.getByText('3 deliveries wait. The open circuit sends a probe now.').waitFor()
    hooks.respond('/down', { status: 200 })
    await dialog.getByRole('button', { name: 'Retry now' }).click()
    await dialog.getByText('No delivery waits any more.').waitFor()
    await hooks.close()
    expect(browser.problems).toEqual([])
  })

  test('a missing queue is created on the page of its lane, which says how the verdict ends', async () => {
    const { client } = stack()
    await client.put('/v1/topics/homeless')
    await client.put('/v1/queues/lost-inbox')
    const settings = { endpoint: 'lost-inbox', protocol: 'sqs' }
    const { id } = await client.post<{ id: string }>('/v1/topics/homeless/subscriptions', settings)
    await client.delete('/v1/queues/lost-inbox')
    await client.post('/v1/topics/homeless/messages', { message: 'x' })
    const verdict = async () =>
      (await client.get<{ verdict: { code: string } }>(`/v1/subscriptions/${id}`)).verdict.code
    await waitFor(async () => (await verdict()) === 'queueMissing')
    const page = await browser.open(`/console/subs/${id}`)
    const create = page.getByRole('button', { name: 'Create the queue lost-inbox' })
    const exists = page.getByText(
      'The queue lost-inbox exists. The verdict changes with the next delivery to it.',
    )
    await create.click()
    await exists.waitFor()
    expect(await create.count()).toBe(0)
    await page.reload()
    await exists.waitFor()
    expect(await create.count()).toBe(0)
    expect(await axeProblems(page)).toEqual([])
    await client.post('/v1/topics/homeless/messages', { message: 'y' })
    await page.getByText('Nothing is wrong now').waitFor()
    expect(browser.problems).toEqual([])
  })

  test('the lists of queues and of dead letters group the digits of a thousand', async () => {
    const { client } = stack()
    await client.put('/v1/topics/thousand')
    await client.put('/v1/queues/thousand-inbox')
    await client.post('/v1/topics/thousand/subscriptions', { endpoint: 'thousand-inbox', protocol: 'sqs' })
    await client.post('/v1/topics/thousand/subscriptions', {
      endpoint: NOBODY,
      filterPolicy: { kind: ['none'] },
      redrivePolicy: { deadLetterTargetArn: 'thousand-inbox' },
    })
    for (let n = 0; n < 20; n++)
      await Promise.all(
        Array.from({ length: 50 }, () => client.post('/v1/topics/thousand/messages', { message: 'x' })),
      )
    const page = await browser.open('/console/queues')
    for (const path of ['/queues', '/dlq']) {
      await visit(page, path)
      await page.getByRole('row').filter({ hasText: 'thousand-inbox' }).getByText('1,000').waitFor()
    }
    await client.delete('/v1/topics/thousand')
    await client.delete('/v1/queues/thousand-inbox')
    expect(browser.problems).toEqual([])
  })

  test('the throttle of a lane is raised in its row', async () => {
    const { client } = stack()
    const hooks = await startReceiver()
    await client.put('/v1/topics/slow')
    const throttlePolicy = { maxReceivesPerSecond: 0.1 }
    const settings = { endpoint: `${hooks.url}/slow`, deliveryPolicy: { throttlePolicy } }
    const { id } = await client.post<{ id: string }>('/v1/topics/slow/subscriptions', settings)
    for (let n = 0; n < 4; n++) await client.post('/v1/topics/slow/messages', { message: 'x' })
    const page = await browser.open('/console/lanes?topic=slow')
    await page.getByRole('button', { name: /^What to do for / }).click()
    await page.getByLabel('Throttle, a second').fill('50')
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await page.getByText('Nothing is wrong now').waitFor()
    const { deliveryPolicy } = await client.get<{ deliveryPolicy: object }>(`/v1/subscriptions/${id}`)
    expect(deliveryPolicy).toMatchObject({ throttlePolicy: { maxReceivesPerSecond: 50 } })
    await hooks.close()
    expect(browser.problems).toEqual([])
  })

  test('a view is saved with its filters, found by its name after a reload, and forgotten', async () => {
    const page = await browser.open('/console/lanes?state=paused&sort=oldest')
    await page.getByRole('heading', { level: 1, name: 'Lanes' }).waitFor()
    await page.keyboard.press('Control+k')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Save this page with its filters as').fill('Stopped on purpose')
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByRole('list', { name: 'Saved views' }).getByText('Stopped on purpose').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await visit(page, '/topics')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('stopped')
    await page.getByRole('option', { name: /^Stopped on purpose/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Lanes' }).waitFor()
    expect(new URL(page.url()).search).toBe('?state=paused&sort=oldest')
    await page.keyboard.press('Control+k')
    await dialog.getByRole('button', { name: 'Forget the view Stopped on purpose' }).click()
    await visit(page, '/topics')
    await page.keyboard.press('Control+k')
    await dialog.getByRole('option').first().waitFor()
    expect(await dialog.getByText('Stopped on purpose').count()).toBe(0)
    expect(browser.problems).toEqual([])
  })

  test('a policy is drawn while it is typed, refused at its member, and saved as the server draws it', async () => {
    const page = await browser.open(`/console/subs/${seeded.id}/curve`)
    const retries = page.getByLabel('Retries', { exact: true })
    await retries.fill('2')
    await page
      .getByText(/must be greater than or equal to total/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: /^quick/ }).click()
    await page.getByText(/6 retries, the last after 59 s/).waitFor()
    await page.getByRole('img', { name: /^Retry 1, / }).focus()
    await page.keyboard.press('ArrowRight')
    await page
      .locator('figcaption')
      .getByText(/^Retry 2, /)
      .waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    const { deliveryPolicy } = await stack().client.get<{ deliveryPolicy: { healthyRetryPolicy: object } }>(
      `/v1/subscriptions/${seeded.id}`,
    )
    expect(deliveryPolicy.healthyRetryPolicy).toMatchObject({ numRetries: 6, maxDelayTarget: 30 })
    await stack().client.patch(`/v1/subscriptions/${seeded.id}`, {
      deliveryPolicy: { healthyRetryPolicy: { preset: 'steady' } },
    })
  })

  test('while the API is away the last data stays, and the light says how old it is', async () => {
    const page = await browser.open('/console/topics')
    await page.getByRole('link', { name: 'shop' }).waitFor()
    await page.context().setOffline(true)
    await page.getByText(/^stale since/).waitFor()
    expect(await page.getByRole('link', { name: 'shop' }).isVisible()).toBe(true)
    await page.context().setOffline(false)
    await page.getByText('live', { exact: true }).waitFor()
    browser.problems.length = 0
  })

  test('a search finds a message by topic and state, keeps its filters in the address, and leads on', async () => {
    await waitFor(async () => {
      const { messages } = await stack().client.get<{ messages: object[] }>('/v1/messages?topic=shop')
      return messages.length > 0
    })
    const page = await browser.open('/console/messages')
    await page.getByLabel('Topic', { exact: true }).fill('shop')
    await page.getByLabel('State').selectOption('parked')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByText('1 sent to wait in a lane').first().waitFor()
    expect(new URL(page.url()).search).toBe('?topic=shop&state=parked')
    await page.getByText('The search looked at the whole log.').waitFor()
    await page.getByRole('link', { name: '{"order":7}' }).click()
    await page.getByRole('heading', { level: 1, name: seeded.messageId }).waitFor()
    await page.goBack()
    await page.getByLabel('State').selectOption('delivered')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByText('Nothing was found').waitFor()
    expect(browser.problems).toEqual([])
  })

  test('words in any order lead to a subscription, although Enter is pressed before they are found', async () => {
    const { client } = stack()
    await client.put('/v1/topics/orders')
    for (const [customer, name] of [
      ['hooli', 'ERP'],
      ['hooli', 'CRM'],
      ['acme', 'ERP'],
    ]) {
      const endpoint = `${NOBODY}/${customer}/${name}`
      await client.post('/v1/topics/orders/subscriptions', { endpoint, name, metadata: { customer } })
    }
    const words = 'hooli orders ERP'
    const found = () => client.get<{ found: object[] }>(`/v1/search/names?text=${encodeURIComponent(words)}`)
    await waitFor(async () => (await found()).found.length === 1, { what: 'the names' })
    const page = await browser.open('/console/lanes')
    await page.getByRole('heading', { level: 1, name: 'Lanes' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByLabel(/^Words of names/).waitFor()
    await page.keyboard.type(words)
    await page.getByRole('option', { name: /^ERP subscription of orders/ }).waitFor()
    const options = () => page.getByRole('dialog').getByRole('option').allTextContents()
    const shown = await waitFor(async () => ((await options()).length === 2 ? options() : undefined))
    expect(shown[1]).toMatch(/^Messages that say hooli orders ERP/)
    expect(await axeProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.getByLabel(/^Words of names/).waitFor()
    await page.keyboard.type(words)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'ERP' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByLabel(/^Words of names/).waitFor()
    await page.keyboard.type('no name of anything')
    await page.keyboard.press('Enter')
    await page.getByText(/messages? looked at, .*to the end/).waitFor()
    expect(new URL(page.url()).search).toBe('?by=content&text=no+name+of+anything')
    expect(browser.problems).toEqual([])
  })

  test('a search by content finds a message and its dead letter, and each leads to the other', async () => {
    const { client, api } = stack()
    await client.put('/v1/topics/said', { keepMessages: KEPT })
    await client.post('/v1/topics/said/subscriptions', {
      endpoint: `${api.url}/no-such-route`,
      redrivePolicy: { deadLetterTargetArn: 'said-dead', createQueue: true },
    })
    const attributes = { eventType: { type: 'String', value: 'order.paid' } }
    const message = JSON.stringify({ size: 'Gr\u00f6\u00dfe M' }).replace('ö', '\\u00f6')
    const { messageId } = await client.post<{ messageId: string }>('/v1/topics/said/messages', {
      message,
      attributes,
    })
    const search = '/v1/search/dead-letters?text=gr%C3%B6%C3%9Fe'
    await waitFor(async () => (await client.get<{ letters: object[] }>(search)).letters.length === 1)
    const page = await browser.open('/console/messages?by=content')
    await page.getByText('Search what messages say').waitFor()
    await page.getByLabel('Text', { exact: true }).fill('größe')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    const finds = (table: string) =>
      page.getByRole('table', { name: table }).getByRole('link', { name: /Größe M/ })
    await finds('Kept messages').waitFor()
    await page.getByText(/\d+ messages? looked at, .* of .*, to the end/).waitFor()
    const phone = await browser.open(new URL(page.url()).pathname + new URL(page.url()).search, {
      width: 390,
    })
    const line = await phone
      .getByRole('link', { name: /Größe M/ })
      .first()
      .boundingBox()
    expect((line?.x ?? 0) + (line?.width ?? 1_000)).toBeLessThanOrEqual(390)
    await finds('Dead letters').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('link', { name: messageId }).click()
    await page.getByRole('heading', { level: 1, name: messageId }).waitFor()
    await page.getByRole('link', { name: 'the dead letter' }).click()
    await dialog.getByText('permanent').waitFor()
    await dialog.getByRole('button', { name: 'Close', exact: true }).click()
    await page.getByRole('button', { name: /order\.paid .*Größe M/ }).waitFor()
    expect(new URL(page.url()).search).toBe('')
    await visit(page, '/dlq/said-dead?letter=0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012')
    await page.getByText('This letter is not in the queue any more').waitFor()
    expect(browser.problems).toEqual([])
  })

  test('attempts are shown one by one, with what the endpoint answered as text, and recording is switched', async () => {
    const { client } = stack()
    const hooks = await startReceiver()
    hooks.respond('/fails', { status: 503, body: HOSTILE, headers: { 'x-request-id': '7' } })
    await client.put('/v1/topics/answers')
    const { id } = await client.post<{ id: string }>('/v1/topics/answers/subscriptions', {
      endpoint: `${hooks.url}/fails`,
      deliveryPolicy: { healthyRetryPolicy: { numRetries: 2, numNoDelayRetries: 2 } },
      redrivePolicy: null,
    })
    const { messageId } = await client.post<{ messageId: string }>('/v1/topics/answers/messages', {
      message: 'hello',
    })
    const attempts = async () =>
      (await client.get<{ attempts: object[] }>(`/v1/subscriptions/${id}/attempts`)).attempts
    await waitFor(async () => (await attempts()).length === 3)
    const page = await browser.open(`/console/subs/${id}?tab=attempts`)
    await page.getByRole('button', { name: /^Attempt 3, 503/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('x-request-id').waitFor()
    expect(await dialog.locator('pre').textContent()).toBe(HOSTILE.replace('\u202e', 'U+202E'))
    expect(await dialog.locator('pre *:not(span)').count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.getByLabel('Record attempts of answers').selectOption('none')
    await waitFor(async () => {
      const { recordAttempts } = await client.get<{ recordAttempts: string }>('/v1/topics/answers')
      return recordAttempts === 'none'
    })
    await visit(page, `/messages/${messageId}`)
    const steps = page.getByRole('list', { name: /^What happened at/ })
    await steps.getByText(/attempt 3, immediate retry/).waitFor()
    await steps.getByText('waited: immediate').first().waitFor()
    await steps.getByText('discarded').waitFor()
    await steps.getByText('the answer').first().click()
    await steps.getByText('x-request-id').first().waitFor()
    await page.getByRole('button', { name: /3 of 3 attempts/ }).click()
    await steps.waitFor({ state: 'detached' })
    await hooks.close()
    expect(await page.title()).toContain(messageId)
    expect(browser.problems).toEqual([])
  })

  test('attempts without a record are counted, and not passed over in silence', async () => {
    const { client } = stack()
    await client.put('/v1/topics/quiet', { recordAttempts: 'none' })
    const { id } = await client.post<{ id: string }>('/v1/topics/quiet/subscriptions', {
      endpoint: NOBODY,
      deliveryPolicy: { healthyRetryPolicy: { numRetries: 1, numNoDelayRetries: 1 } },
      redrivePolicy: null,
    })
    const { messageId } = await client.post<{ messageId: string }>('/v1/topics/quiet/messages', {
      message: 'hello',
    })
    const page = await browser.open(`/console/subs/${id}?tab=attempts`)
    await page.getByText('No attempt is recorded').waitFor()
    await page.getByText('The topic records none. Choose above').waitFor()
    await visit(page, `/messages/${messageId}`)
    await page.getByText(/^2 attempts without a record/).waitFor()
    await page.route('**/attempts', (route) => route.abort())
    await visit(page, `/subs/${id}?tab=attempts`)
    await page.getByRole('alert').waitFor()
    browser.problems.length = 0
  })

  test('a test shows the request, the answer and the times', async () => {
    const { client } = stack()
    const hooks = await startReceiver()
    hooks.respond('/in', { status: 400, body: HOSTILE })
    const { id } = await client.post<{ id: string }>('/v1/topics/shop/subscriptions', {
      endpoint: `${hooks.url}/in`,
      outbound: { headers: { 'X-Api-Key': 'top-secret' } },
    })
    const page = await browser.open(`/console/subs/${id}`)
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Message').fill('{"order": 7}')
    await dialog.getByRole('button', { name: 'Send the test' }).click()
    await dialog.getByText('The endpoint answered 400').waitFor()
    await dialog.getByText('***', { exact: true }).waitFor()
    await dialog.getByText('First byte').waitFor()
    expect(await dialog.locator('pre').last().textContent()).toBe(HOSTILE.replace('\u202e', 'U+202E'))
    expect(await page.content()).not.toContain('top-secret')
    expect(await axeProblems(page)).toEqual([])
    await client.delete(`/v1/subscriptions/${id}`)
    await hooks.close()
    expect(browser.problems).toEqual([])
  })

  test('dead letters are chosen by group, edited, redriven and purged by the filter', async () => {
    await deadLetters(stack())
    const page = await browser.open('/console/dlq/refused')
    const causes = page.getByRole('table', { name: 'By cause' })
    const group = causes.getByRole('button', { name: 'permanent', exact: true })
    await group.waitFor()
    // One row for all subscriptions. Only a chosen cause is divided by subscription.
    expect(await causes.getByRole('columnheader', { name: 'Subscription' }).count()).toBe(0)
    // Until the answer is there, the count of the earlier filter is not said of this one.
    const counting = /dead-letters\?.*reason=permanent/
    await page.route(counting, async (request) => {
      await page.getByText('Counting …').waitFor()
      await request.continue()
    })
    await group.click()
    await page.getByText('3 dead letters match: reason permanent, statusCode 404').waitFor()
    await page.unroute(counting)
    await causes.getByRole('link', { name: /^http/ }).first().waitFor()
    expect(await axeProblems(page)).toEqual([])
    const letters = page.getByRole('table', { name: 'Dead letters' })
    await letters.getByRole('button').first().click()
    await page.getByRole('button', { name: 'Edit …' }).click()
    await page.getByLabel('As it will be sent').fill('mended')
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('+ mended').waitFor()
    await page.getByRole('button', { name: 'Add an attribute' }).click()
    expect(await page.getByRole('button', { name: 'Compare' }).isDisabled()).toBe(true)
    await page.getByLabel('Name 1').fill('country')
    await page.getByLabel('Value 1').fill('DE')
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('+ country = DE (String)').waitFor()
    expect(await axeProblems(page)).toEqual([])
    // The whole dialog.
    await page.setViewportSize({ width: 1280, height: 1000 })
    await page.screenshot({ path: `${PICTURES}edit.png` })
    await page.getByRole('button', { name: 'Send the edited message' }).click()
    await page.getByRole('heading', { level: 1, name: 'Redrive of refused' }).waitFor()
    await page.getByText('100 %: 1 of 1 moved').waitFor()
    // The endpoint refuses it again, so the edited letter is back in the queue.
    await waitFor(async () => (await attributesOfLetters(stack())).length === 1)
    const [edited] = await attributesOfLetters(stack())
    expect(edited).toMatchObject({ country: { type: 'String', value: 'DE' } })

    await visit(page, '/dlq/refused?reason=permanent')
    await causes.waitFor()
    await page.screenshot({ path: `${PICTURES}dead-letters.png` })
    await page.getByRole('button', { name: 'Redrive …' }).click()
    await page.getByLabel('Canary').fill('1')
    expect(await axeProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'Start the redrive' }).click()
    await page.getByText(/The redrive has paused itself: 1 of 1 first messages failed again/).waitFor()
    await page.getByRole('button', { name: 'Cancel the redrive' }).click()

    await visit(page, '/dlq/refused?reason=permanent')
    await page.getByRole('button', { name: 'Purge …' }).click()
    const dialog = page.getByRole('alertdialog')
    const purge = dialog.getByRole('button', { name: 'Purge …' })
    expect(await purge.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('refused')
    await purge.click()
    await page.getByText('No dead letter matches the filter').first().waitFor()
    expect(browser.problems).toEqual([])
  })

  test('pictures for the documents', async () => {
    const { client } = stack()
    await client.post('/v1/topics/shop/subscriptions', {
      endpoint: `${NOBODY}/partner`,
      name: 'Partner',
      confirmation: 'handshake',
    })
    const stood = await client.post<{ id: string }>('/v1/topics/shop/subscriptions', {
      endpoint: `${NOBODY}/warehouse`,
      name: 'Warehouse',
    })
    await client.post(`/v1/subscriptions/${stood.id}/pause`)
    // After five failures in a row, the lane has the verdict `failing`.
    for (let order = 8; order < 20; order++) {
      await client.post('/v1/topics/shop/messages', { message: { order } })
    }
    await waitFor(async () => {
      const { lanes } = await client.get<{ lanes: { verdict: { code: string } }[] }>('/v1/lanes')
      return lanes.some(({ verdict }) => verdict.code === 'failing')
    })
    const size = { width: 1100, height: 620 }
    const pictures = [
      ['lanes', '/lanes', 'light'],
      ['subscription', `/subs/${seeded.id}`, 'dark'],
      ['curve', `/subs/${seeded.id}/curve`, 'light'],
      ['message', `/messages/${seeded.messageId}`, 'light'],
      ['search', '/messages?topic=shop&state=parked', 'light'],
    ] as const
    for (const [name, path, theme] of pictures) {
      const page = await browser.open(`/console${path}`, { theme, ...size })
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByText('live', { exact: true }).waitFor()
      await waitFor(async () => (await page.getByRole('status', { name: 'Loading' }).count()) === 0)
      await page.screenshot({ path: `${PICTURES}${name}.png`, fullPage: true })
    }
  })
})
