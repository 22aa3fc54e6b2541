/**
 * Compiles a JSON Schema to the code of its check, by Ajv. It runs in a thread (schema-thread.ts), because compiling a
 * stranger's schema may take long.
 *
 * Ajv trusts schemas, so it gets only what read-schema.ts lets through. Three of its parts are replaced, because their
 * work grows faster than the message: uniqueItems, patterns, and the joining of errors.
 */
import { _, type KeywordCxt } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'
import { CheckHost, schemaCheck, TOO_DEEP } from './check-schema.ts'
import { readSchema, SIZED_STEPS, STEPS } from './read-schema.ts'
import { SchemaProblem } from './schema-problem.ts'

/** Code of a compiled schema. Past it: the schema is refused, because the process would take long to load it. */
const CODE_CHARS_MAX = 393_216

export interface SchemaJob {
  /** JSON text. */
  schema: string
  /** JSON texts of messages that must fit. */
  examples: readonly string[]
  depthMax: number
}

export type SchemaReply = { code: string } | { problem: { path: string; message: string } }

export function compileSchema(job: SchemaJob): SchemaReply {
  try {
    const code = codeOf(job)
    // The thread has less stack than the process, so what it can run the process can run, too.
    checkExamples(code, job.examples)
    return { code }
  } catch (error) {
    if (!(error instanceof SchemaProblem)) throw error
    return { problem: { path: error.path, message: error.message } }
  }
}

function codeOf({ schema: text, depthMax }: SchemaJob): string {
  const { schema, isUnevaluated } = readSchema(JSON.parse(text), depthMax)
  const ajv = compilerOf(isUnevaluated)
  const code = joined(compiled(() => standalone.default(ajv, ajv.compile(schema))))
  if (code.length <= CODE_CHARS_MAX) return code
  throw new SchemaProblem('schema', 'is too complex: its check would take too much memory')
}

function compiled(compile: () => string): string {
  try {
    return compile()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new SchemaProblem('schema', `cannot be compiled: ${message}`)
  }
}

function compilerOf(isUnevaluated: boolean): Ajv2020 {
  const host = new CheckHost()
  const regExp = Object.assign((pattern: string) => host.regExp(pattern), { code: 'host.regExp' })
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    ownProperties: true,
    inlineRefs: false,
    validateFormats: false,
    logger: false,
    code: { source: true, regExp, optimize: false },
  })
  // The constructor of this draft turns both on, which costs every check.
  Object.assign(ajv.opts, { unevaluated: isUnevaluated, dynamicRef: false })
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not have equal items' },
    code: (cxt) => {
      if (cxt.schema) cxt.fail(_`!${hostIn(cxt)}.areDistinct(${cxt.data})`)
    },
  })
  const hostIn = ({ gen }: KeywordCxt) => gen.scopeValue('func', { ref: host, code: _`host` })
  const sized = (cxt: KeywordCxt) => {
    cxt.gen.code(_`${hostIn(cxt)}.spendSized(${cxt.schema}, ${cxt.data})`)
  }
  const plain = (cxt: KeywordCxt) => {
    cxt.gen.code(_`${hostIn(cxt)}.spend(${cxt.schema})`)
  }
  ajv.addKeyword({ keyword: SIZED_STEPS, schemaType: 'number', code: sized })
  ajv.addKeyword({
    keyword: STEPS,
    schemaType: 'number',
    code: isUnevaluated ? sized : plain,
  })
  return ajv
}

const JOIN = /vErrors === null \? ([\w.]+)\.errors : vErrors\.concat\(\1\.errors\)/g

function joined(code: string): string {
  const result = code.replaceAll(JOIN, 'host.join(vErrors, $1.errors)')
  if (!result.includes('vErrors.concat')) return result
  throw new SchemaProblem('schema', 'cannot be compiled')
}

function checkExamples(code: string, examples: readonly string[]): void {
  const check = schemaCheck(code)
  if (check('null') === TOO_DEEP)
    throw new SchemaProblem('schema', 'is too complex: its check is nested too deeply')
  for (const [i, example] of examples.entries()) {
    const problem = check(example)
    if (problem !== undefined)
      throw new SchemaProblem(`examples[${i}]`, `does not fit the schema: ${problem}`)
  }
}
