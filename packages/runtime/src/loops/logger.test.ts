import { describe, expect, it } from 'vitest'
import { logLines } from '../log-lines.fixture.ts'
import { createLogger, errorFields, withoutCredentials } from './logger.ts'

describe('logger', () => {
  it('writes one JSON line with service, level, time and fields', () => {
    const { destination, lines } = logLines()
    createLogger({ service: 'publish-api', destination }).info({ messages: 3 }, 'message.published')
    expect(lines()).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        service: 'publish-api',
        messages: 3,
        msg: 'message.published',
      },
    ])
  })

  it.each([
    ['warn', ['warn']],
    ['silent', []],
    ['loud', ['info', 'warn']],
    [undefined, ['info', 'warn']],
  ])('at level %s writes %j', (level, expected) => {
    const { destination, lines } = logLines()
    const log = createLogger({ service: 'redrive', level, destination })
    log.debug('d')
    log.info('i')
    log.warn('w')
    expect(lines().map((line) => line.level)).toEqual(expected)
  })

  it('blots out secrets by name', () => {
    const { destination, text } = logLines()
    const log = createLogger({ service: 'redrive', destination })
    log.info(
      { token: 'secret', subscription: { token: 'secret' }, headers: { authorization: 'secret' } },
      'x',
    )
    expect(text()).toContain('[redacted]')
    expect(text()).not.toContain('secret')
  })

  it('lets no text of others steer the terminal that shows the log', () => {
    const { destination, text, lines } = logLines()
    const log = createLogger({ service: 'redrive', destination })
    const endpoint = 'a\u009b2J\u202e\u2028b\n\u001b[31m'
    log.info({ endpoint }, 'x')
    expect(text()).toMatch(/^[\x20-\x7e]*\n$/)
    expect(lines()).toMatchObject([{ endpoint }])
  })

  it('logs of an error what it is and why, never the command it carries', () => {
    const { destination, text, lines } = logLines()
    const reply = Object.assign(new Error('WRONGPASS'), { command: { name: 'auth', args: ['hunter2'] } })
    createLogger({ service: 'redrive', destination }).error(
      { err: new Error('no Redis', { cause: reply }) },
      'x',
    )
    expect(lines()[0]?.err).toMatchObject({ message: 'no Redis', cause: { message: 'WRONGPASS' } })
    expect(text()).not.toContain('hunter2')
  })

  it('names a refused connection to several addresses by its code', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED ::1:6379'), { code: 'ECONNREFUSED' })
    const all = Object.assign(new AggregateError([refused]), { code: 'ECONNREFUSED' })
    expect(errorFields(all)).toMatchObject({
      message: 'ECONNREFUSED',
      cause: { message: 'connect ECONNREFUSED ::1:6379' },
    })
  })

  it('does not follow causes for ever', () => {
    const error = new Error('round')
    error.cause = error
    expect(JSON.stringify(errorFields(error)).match(/"message"/g)).toHaveLength(5)
  })

  it('a URL without its credentials', () => {
    expect(withoutCredentials('rediss://me:secret@redis:6380/1?password=secret')).toBe(
      'rediss://redis:6380/1',
    )
    expect(withoutCredentials('secret')).toBe('[no URL]')
  })
})
