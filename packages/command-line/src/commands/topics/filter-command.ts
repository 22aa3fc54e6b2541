/** `fantail filter test` shows clause by clause whether a filter policy matches a message. */
import { type FilterTest, testFilterPolicy } from '@fantail/client/api'
import { printable } from '@fantail/policy'
import { type Define, examples } from '../../frame/command-context.ts'
import { collect, readObject, readPairs, readText } from '../../frame/command-input.ts'

interface FilterFlags {
  attr?: string[]
  scope?: 'body' | 'attributes'
  types?: string
}

export const filter: Define = (command, does) => {
  const test = command
    .command('test')
    .description('test a filter policy with a message; exit code 1: no match')
  test
    .argument('<policy>', 'the filter policy as JSON, @FILE, or - for stdin')
    .argument('[message]', 'the message as text, @FILE, or - for stdin', '{}')
    .option('--attr <name=value>', 'an attribute: name=text or name:=JSON (again for more)', collect)
    .option('--scope <scope>', 'what the policy looks at: body or attributes (default: attributes)')
    .option('--types <names>', 'event types that the subscription has chosen, by comma')
    .action(
      does(async (context, policy: string, given: string, { attr = [], scope, types }: FilterFlags) => {
        const filterPolicy = await readObject(policy, 'the filter policy', context)
        const message = await readText(given, context)
        const attributes = readPairs(attr, '--attr') as Record<string, string>
        const verdict = await testFilterPolicy({
          client: await context.api(),
          body: {
            filterPolicy,
            filterPolicyScope: scope === 'body' ? 'MessageBody' : 'MessageAttributes',
            ...(types !== undefined && { eventTypes: types.split(',') }),
            message: { message, attributes },
          },
        })
        context.out.item(verdict, () => verdictText(verdict))
        return verdict.matched ? 'done' : 'failed'
      }),
    )
  examples(
    test,
    `filter test '{"color":["red"]}' --attr color=red`,
    `filter test '{"order":{"total":[{"numeric":[">",100]}]}}' @order.json --scope body`,
  )
}

function verdictText({ matched, reason, clauses }: FilterTest): string {
  const lines = clauses.map(({ path, condition, matched, value }) => {
    const has = value === undefined ? 'nothing' : JSON.stringify(value)
    return printable(`${matched ? '✓' : '✕'} ${path}: wanted ${JSON.stringify(condition)}, has ${has}`)
  })
  return [matched ? 'matches' : `does not match (${reason})`, ...lines].join('\n')
}
