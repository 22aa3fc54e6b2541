import { stripTypeScriptTypes } from 'node:module'
import { expect, test } from 'vitest'
import { catalogueTypes } from './catalogue-types.ts'

test('the types say what the schemas say, and compile', () => {
  const source = catalogueTypes('orders', [
    {
      name: 'order.paid',
      description: 'Paid. */ Really.',
      deprecated: true,
      schema: {
        type: 'object',
        properties: {
          id: { type: 'string', description: 'The number.' },
          total: { type: ['integer', 'null'] },
          kind: { enum: ['web', 5] },
          lines: { type: 'array', items: { $ref: '#/$defs/line' } },
          'odd-name': { const: { a: [true] } },
          parent: { $ref: '#' },
        },
        required: ['id', 'other'],
        $defs: { line: { type: 'object', properties: { at: { prefixItems: [{ type: 'number' }] } } } },
      },
    },
    {
      name: 'order-paid',
      description: null,
      deprecated: false,
      schema: { additionalProperties: { type: 'string' } },
    },
    {
      name: '2fa.sent',
      description: null,
      deprecated: false,
      schema: { allOf: [{ required: ['a'] }], oneOf: [{ type: 'string' }, { type: 'object' }] },
    },
    { name: 'note', description: null, deprecated: false, schema: null },
  ])
  expect(source).toMatchInlineSnapshot(`
    "// The event types of the topic orders, written by \`fantail event-types typescript\`.

    /**
     * Paid. *\\/ Really.
     * @deprecated
     */
    export type OrderPaid = {
      /** The number. */
      id: string
      total?: number | null
      kind?: "web" | 5
      lines?: OrderPaidLine[]
      "odd-name"?: { a: [true] }
      parent?: OrderPaid
      other: unknown
    }

    export type OrderPaidLine = {
      at?: [number?, ...Array<unknown>]
    }

    export type OrderPaid2 = Record<string, string>

    export type Type2faSent = {
      a: unknown
    } & (string | Record<string, unknown>)

    export type Note = unknown

    /** The messages of the topic by event type. */
    export interface EventTypes {
      "order.paid": OrderPaid
      "order-paid": OrderPaid2
      "2fa.sent": Type2faSent
      "note": Note
    }"
  `)
  expect(stripTypeScriptTypes(source).trim()).toMatch(/^\/\/ The event types/)
})
