/** Names and patterns of event types. */
import { expect, test } from 'vitest'
import { getsType, groupsOfTypes, withChoice } from './type-patterns.ts'

test('an endpoint gets what its names and patterns match, and everything if it has none', () => {
  expect(getsType(null, 'order.paid')).toBe(true)
  expect(getsType([], 'order.paid')).toBe(false)
  expect(getsType(['order.paid'], 'order.paid')).toBe(true)
  expect(getsType(['order.*'], 'order.line.added')).toBe(true)
  expect(getsType(['order.*'], 'order')).toBe(false)
  expect(getsType(['order.*'], 'orders.paid')).toBe(false)
  expect(getsType(['*'], 'ping')).toBe(true)
})

test('types form groups by their first segment, and single ones stand last', () => {
  const names = ['invoice.sent', 'order.paid', 'order.shipped', 'ping']
  expect(groupsOfTypes(names)).toEqual([
    { prefix: 'order', names: ['order.paid', 'order.shipped'] },
    { prefix: '', names: ['invoice.sent', 'ping'] },
  ])
})

test('a chosen group takes the place of its names', () => {
  const chosen = ['order.paid', 'ping']
  expect(withChoice(chosen, 'order.*', true)).toEqual(['ping', 'order.*'])
  expect(withChoice(['ping', 'order.*'], 'order.*', false)).toEqual(['ping'])
  expect(withChoice(chosen, 'ping', false)).toEqual(['order.paid'])
})
