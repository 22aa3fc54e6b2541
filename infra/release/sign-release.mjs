// @ts-check
/** Signs the checksums of a release. cosign and OpenSSL verify the signature without a network. */
import { join } from 'node:path'
import { StepError, show } from '../bootstrap/steps.mjs'

/** @param {string} output the artifacts @param {string} key a private key of cosign: a file, or an address of a KMS */
export async function signRelease(output, key) {
  const sums = join(output, 'SHA256SUMS')
  const offline = ['--yes', '--tlog-upload=false', '--output-signature', `${sums}.sig`]
  const code = await show('cosign', ['sign-blob', ...offline, '--key', key, sums])
  if (code === 127) throw new StepError('--sign needs cosign on PATH')
  if (code !== 0) throw new StepError('cosign did not sign, as the lines above say')
}
