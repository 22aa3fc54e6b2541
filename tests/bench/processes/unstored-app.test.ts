import { expect, test } from 'vitest'
import { unstoredApp } from './unstored-app.ts'

test.each([{ message: '#1' }, { messages: [{ message: '#1' }, { message: '#2' }] }])(
  'the route that stores nothing accepts %j',
  async (body) => {
    const headers = { 'content-type': 'application/json' }
    const request = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await unstoredApp().request('/v1/topics/accepted/messages', request)
    expect([answer.status, await answer.text()]).toEqual([202, expect.stringContaining('messageId')])
  },
)
