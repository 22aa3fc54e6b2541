import ipaddr from 'ipaddr.js'
import { expect, test } from 'vitest'
import { AddressRules, isAddressRule } from './address-rules.ts'

test.each([
  '10.0.0.1',
  '10.0.0.0/8',
  '0.0.0.0/0',
  '::1',
  'fd00::/64',
  'hooks.internal',
  'Hooks.Internal.',
  '*.svc',
  'a_b.example',
  'bücher.example',
])('%s is a rule', (text) => {
  expect(isAddressRule(text)).toBe(true)
  expect(() => new AddressRules([text])).not.toThrow()
})

test.each([
  '',
  ' ',
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/8/8',
  '10.0.0.0/',
  '::/129',
  '10.1',
  '10/8',
  '010.0.0.1',
  '0x7f.1',
  '2130706433',
  'fe80::1%eth0',
  'http://x/',
  'a b',
  '*',
  '*.',
  'a.*.b',
  '-a.example',
  'a..b',
  'x.1',
])('%j is none, and is named', (text) => {
  expect(isAddressRule(text)).toBe(false)
  expect(() => new AddressRules(['10.0.0.1', text])).toThrow(`'${text}'`)
})

test('a name is itself in any case, spelling and with any dots of the root', () => {
  const rules = new AddressRules(['hooks.internal', 'bücher.example', '*.below.example'])
  const named = [
    'hooks.internal',
    'HOOKS.internal.',
    'hooks.internal..',
    'xn--bcher-kva.example',
    'a.below.example',
  ]
  expect(named.filter((name) => !rules.hasHost(name))).toEqual([])
  const others = ['x.hooks.internal', 'hooks.internal.evil', 'below.example', 'evilbelow.example', '']
  expect(others.filter((name) => rules.hasHost(name))).toEqual([])
})

test('an address is matched by its own family', () => {
  const rules = new AddressRules(['10.0.0.0/8', 'fd00::/16'])
  expect(
    ['10.255.0.1', '11.0.0.1', 'fd00::1', 'fd01::1'].map((text) => rules.hasAddress(ipaddr.parse(text))),
  ).toEqual([true, false, true, false])
})
