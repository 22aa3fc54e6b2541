// @ts-check
/**
 * `node infra/helm/check.mjs`: lints the chart, renders it with each set of values in `tries/`, checks the manifests by
 * the schemas of Kubernetes and of two operators, and drives the rendered pods through a rolling upgrade. It needs Go
 * and Python 3.11 or newer, and downloads its tools once, into `.fantail/helm`. Nothing of it needs a cluster.
 */
import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { binDir, privateDir, root } from '../bootstrap/paths.mjs'
import { capture, run, StepError, say, show } from '../bootstrap/steps.mjs'

const HELM = 'helm.sh/helm/v4/cmd/helm@v4.3.1'
const KUBERNETES_VALIDATE = 'kubernetes-validate==1.37.0'
/** Modules that hold the definitions of kinds which Kubernetes itself does not know. */
const DEFINITIONS = {
  'github.com/prometheus-operator/prometheus-operator@v0.85.0': [
    'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
  ],
  'github.com/kedacore/keda/v2@v2.21.0': ['config/crd/bases/keda.sh_scaledobjects.yaml'],
}
/** Words that the chart must refuse, and what it says. */
const REFUSED = {
  '--set redis.url=': 'set exactly one of redis.url',
  '--set redis.trial.enabled=true --set redis.url=redis://redis': 'set exactly one of redis.url',
  '--set redis.url=redis://user:password@redis': "'redis://user:password@redis' does not match pattern",
  '--set redis.url=redis://redis --set redis.tls.enabled=true': 'begins with rediss://',
  '--set redis.sentinels={s1:26379}': 'redis.sentinelName must be set',
  '--set redis.trial.enabled=true --set settings.FANTAIL_QUEUE=3': "invalid propertyName 'FANTAIL_QUEUE'",
  '--set redis.trial.enabled=true --set settings.FANTAIL_PORT=80': "invalid propertyName 'FANTAIL_PORT'",
  '--set redis.trial.enabled=true --set settings.FANTAIL_QUEUES=3': 'got number, want boolean or string',
  '--set redis.trial.enabled=true --set worker.replica=3': "'replica' not allowed",
  '--set redis.trial.enabled=true --set prometheusRule.enabled=true': 'needs serviceMonitor.enabled',
  '--set redis.trial.enabled=true --set ingress.enabled=true': 'ingress.host must be set',
  '--set redis.trial.enabled=true --set podSecurityContext.runAsNonRoot=false': 'value must be true',
  '--set redis.trial.enabled=true --set worker.autoscaling.enabled=true --set worker.autoscaling.cpuPercent=0':
    'needs cpuPercent, dueDeliveries, or both',
}

const folder = join(root, 'infra/helm')
const chart = join(folder, 'fantail')
const tools = join(privateDir, 'helm')
/** Go would look for modules in the repository. */
const inTools = { cwd: tools }
const helm = join(tools, 'bin/helm')
const python = join(tools, 'python/bin/python')

try {
  await check()
} catch (error) {
  if (!(error instanceof StepError)) throw error
  console.error(`fantail: ${error.message}`)
  process.exitCode = 1
}

async function check() {
  const definitions = await install()
  const tries = globSync('tries/*.yaml', { cwd: folder }).toSorted()
  say(`rendering the chart with ${tries.length} sets of values`)
  const rendered = []
  for (const path of tries) rendered.push(await render(join(folder, path)))
  for (const [words, reason] of Object.entries(REFUSED)) await refuse(words.split(' '), reason)
  say('checking the manifests')
  const manifests = JSON.parse(
    await run(python, [join(folder, 'validate.py'), ...definitions, '--', ...rendered], inTools),
  )
  const file = join(tools, 'manifests.json')
  writeFileSync(file, JSON.stringify(Object.fromEntries(Object.entries(manifests).map(named))))
  say('driving the rendered pods through a rolling upgrade')
  const env = { ...process.env, FANTAIL_CHART_MANIFESTS: file }
  const code = await show(join(binDir, 'vitest'), ['run', 'tests/chart'], { cwd: root, env })
  if (code !== 0) throw new StepError('a test of the chart failed')
}

/** @param {[string, unknown]} entry */
function named([path, manifests]) {
  return [basename(path, '.yaml'), manifests]
}

/** Returns the paths of the definitions. */
async function install() {
  mkdirSync(tools, { recursive: true })
  if (!existsSync(helm)) {
    say('building helm')
    await run('go', ['install', HELM], { ...inTools, env: { ...process.env, GOBIN: join(tools, 'bin') } })
  }
  if (!existsSync(python)) {
    say('installing kubernetes-validate')
    await run('python3', ['-m', 'venv', join(tools, 'python')], inTools)
    await run(python, ['-m', 'pip', 'install', '--quiet', KUBERNETES_VALIDATE], inTools)
  }
  const paths = []
  for (const [module, files] of Object.entries(DEFINITIONS)) {
    const { Dir } = JSON.parse(await run('go', ['mod', 'download', '-json', module], inTools))
    paths.push(...files.map((path) => join(Dir, path)))
  }
  return paths
}

/** @param {string} values */
async function render(values) {
  await run(helm, ['lint', '--strict', chart, '--values', values], inTools)
  const words = ['template', 'some', chart, '--namespace', 'shop', '--values', values]
  const manifests = await run(helm, words, inTools)
  const file = join(tools, basename(values))
  writeFileSync(file, manifests)
  return file
}

/** @param {string[]} words @param {string} reason */
async function refuse(words, reason) {
  const { code, stderr } = await capture(helm, ['template', 'some', chart, ...words])
  if (code === 0) throw new StepError(`the chart takes ${words.join(' ')}`)
  if (!stderr.includes(reason))
    throw new StepError(`${words.join(' ')} is refused otherwise than by "${reason}":\n${stderr}`)
}
