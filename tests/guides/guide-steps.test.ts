import { expect, test } from 'vitest'
import { agrees, commandsOfTable, filledIn, stepsOf } from './guide-steps.ts'

const guide = `## Steps

\`\`\`sh
one \\
  and on
# → "id": "<it>"
two <it>

# A comment for readers.
# After a moment:
three
# → a
# → b
# Not run by the tests: it needs root.
four
\`\`\`

\`\`\`json
{}
\`\`\`
`

test('steps end at comments and empty lines', () => {
  expect(stepsOf(guide)).toEqual([
    { line: 4, section: 'Steps', code: 'one \\\n  and on', expected: ['"id": "<it>"'], repeated: false },
    { line: 7, section: 'Steps', code: 'two <it>', expected: [], repeated: false },
    { line: 11, section: 'Steps', code: 'three', expected: ['a', 'b'], repeated: true },
  ])
})

test('a name is taken from the first output that has it', () => {
  const known = new Map<string, string>()
  expect(agrees('{ "id" : "7", "x": 1 }', ['"id":"<it>"'], known)).toBe(true)
  expect(filledIn('two <it>', known)).toBe('two 7')
  expect(agrees('{"id":"8"}', ['"id":"<it>"'], known)).toBe(false)
  expect(() => filledIn('<other>', known)).toThrow('nothing before has shown <other>')
})

test('an output agrees only where all texts stand in their order', () => {
  expect(agrees('a, then b', ['a', 'b'], new Map())).toBe(true)
  expect(agrees('b, then a', ['a', 'b'], new Map())).toBe(false)
  expect(agrees('{"a":1,"b":2,"c":3}', ['{"a":1,…"c":3}'], new Map())).toBe(true)
  expect(agrees('{"a":1}', ['{"a":.}'], new Map())).toBe(false)
  expect(agrees('{\n  "a": [\n    1\n  ]\n}', ['{"a":[1]}'], new Map())).toBe(true)
})

test('commands are found in the column of a table', () => {
  const table =
    '| symptom | look | do |\n|---|---|---|\n| slow | `curl x \\| grep y` | wait |\n| dead | – | – |\n'
  expect(commandsOfTable(table, 'look')).toEqual([{ row: 'slow', command: 'curl x | grep y' }])
})
