import { expect, test } from 'vitest'
import { policyProblem } from './policy-grammar.ts'

const GOOD = { Sid: 'a', Effect: 'Allow', Principal: '*', Action: 'sns:Publish', Resource: '*' }
const problemOf = (statement: unknown, policy: object = {}) =>
  policyProblem(JSON.stringify({ Version: '2012-10-17', Statement: [statement], ...policy }))

test.each<[statement: object]>([
  [{}],
  [{ Principal: { AWS: ['*'] } }],
  [{ Principal: { AWS: '123456789012', Service: ['sns.amazonaws.com', 's3.amazonaws.com'] } }],
  [{ Principal: undefined, NotPrincipal: { AWS: 'arn:aws:iam::123456789012:root' } }],
  [{ Action: undefined, NotAction: ['sns:Publish'] }],
  [{ Resource: undefined }],
  [{ Condition: { StringEquals: { 'aws:SourceAccount': ['1'], 'aws:SourceArn': 'a' } } }],
])('%j is a statement', (set) => {
  expect(problemOf({ ...GOOD, ...set })).toBeUndefined()
  expect(policyProblem(JSON.stringify({ Id: 'x', Statement: { ...GOOD, ...set } }))).toBeUndefined()
})

test.each<[problem: string, set: object]>([
  ['a statement has no member effect', { effect: 'Deny' }],
  ['Effect must be Allow or Deny', { Effect: 'deny' }],
  ['Effect must be Allow or Deny', { Effect: undefined }],
  ['a statement needs Principal or NotPrincipal', { Principal: undefined }],
  ['a statement needs Action or NotAction', { Action: undefined }],
  ['a statement must not have both Principal and NotPrincipal', { NotPrincipal: '*' }],
  ['a statement must not have both Resource and NotResource', { NotResource: '*' }],
  ['Action must be a text or a list of texts', { Action: [] }],
  ['Resource must be a text or a list of texts', { Resource: { Ref: 'x' } }],
  ['a principal must be * or an object', { Principal: ['*'] }],
  ['a principal must be * or an object', { Principal: {} }],
  ['a principal has no member aws', { Principal: { aws: '*' } }],
  ['AWS of a principal must be a text or a list of texts', { Principal: { AWS: 123456789012 } }],
  ['a principal cannot be a pattern: arn:aws:iam::*:root', { Principal: { AWS: 'arn:aws:iam::*:root' } }],
  ['a principal cannot be a pattern: *', { Principal: { Service: '*' } }],
  ['Condition must be an object', { Condition: [] }],
  ['Condition must be an object', { Condition: null }],
  ['StringEquals of a condition must be an object with keys', { Condition: { StringEquals: {} } }],
])('%s', (problem, set) => {
  expect(problemOf({ ...GOOD, ...set })).toBe(problem)
})

test('a policy has known members, a version and statements', () => {
  expect(problemOf(GOOD, { Version: '2012-10-18' })).toBe('Version must be 2012-10-17 or 2008-10-17')
  expect(problemOf(GOOD, { statement: [] })).toBe('a policy has no member statement')
  expect(problemOf(null)).toBe('a statement is not an object')
  expect(policyProblem('{}')).toBe('Statement is missing')
  expect(policyProblem('{"Statement":[]}')).toBeUndefined()
  for (const text of ['', '[]', '{']) expect(policyProblem(text)).toBe('the policy is not a JSON object')
})

test('no member is given twice, however it is written', () => {
  const condition = (second: string) =>
    `{"Statement":{"Effect":"Allow","Principal":"*","Action":["a","a"],"Condition":{"StringEquals":{"aws:SourceArn":"x"},${second}:{"aws:username":"y"}}}}`
  const twice = 'StringEquals is given twice in one object'
  expect(policyProblem(condition('"StringEquals"'))).toBe(twice)
  expect(policyProblem(condition(`"\\u0053tringEquals"${' '.repeat(500)}`))).toBe(twice)
  expect(policyProblem(condition('"StringLike"'))).toBeUndefined()
  expect(policyProblem(condition('"String\\"Equals"'))).toBeUndefined()
})
