/** The list of fields of a JSON Schema. */
import { expect, test } from 'vitest'
import { fieldsOfSchema } from './schema-fields.ts'

test('fields are listed with their path, type and description, below objects, lists and references', () => {
  const schema = {
    type: 'object',
    required: ['id'],
    properties: {
      id: { type: 'string', description: 'The order.' },
      state: { enum: ['open', 'paid'] },
      lines: { type: 'array', items: { properties: { price: { type: ['number', 'null'] } } } },
      buyer: { $ref: '#/$defs/person' },
    },
    $defs: { person: { type: 'object', properties: { name: { type: 'string' } } } },
  }
  const rows = fieldsOfSchema(schema).map(({ path, type, isRequired }) => [path, type, isRequired])
  expect(rows).toEqual([
    ['id', 'string', true],
    ['state', '"open" | "paid"', false],
    ['lines', 'array', false],
    ['lines[].price', 'number | null', false],
    ['buyer', 'object', false],
    ['buyer.name', 'string', false],
  ])
  expect(fieldsOfSchema(schema)[0]?.description).toBe('The order.')
})

test('a schema that refers to itself, or to nothing, ends', () => {
  const own = { properties: { next: { $ref: '#' }, lost: { $ref: '#/nowhere' } } }
  const paths = fieldsOfSchema(own).map(({ path }) => path)
  expect(paths.length).toBeLessThanOrEqual(100)
  expect(paths).toContain('next.next')
  expect(paths).toContain('lost')
})
