// @ts-check
/**
 * The libraries that Node needs, from pinned packages of Debian: the lowest layer of the image. A newer release of them
 * needs new versions and digests, which are in the `Packages` file of Debian's bookworm.
 */
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { buffer } from 'node:stream/consumers'
import { StepError } from '../../bootstrap/steps.mjs'
import { membersOf, tarEntries } from './archive-reading.mjs'

/** @typedef {import('../tar-archive.mjs').TarEntry} TarEntry */

/** Its CommonJS has no names that an import finds. @type {typeof import('xz-decompress')} */
const { XzReadableStream } = createRequire(import.meta.url)('xz-decompress')

const GLIBC = 'pool/main/g/glibc/libc6_2.36-9+deb12u14'
const GCC = 'pool/main/g/gcc-12'
const GCC_VERSION = '12.2.0-14+deb12u1'

/** Path and SHA-256. gcc-12-base has the licence of both libraries of GCC. */
const LIBRARIES = {
  amd64: [
    [GLIBC, 'ba4f88f73dbc3ae9055f3c20f4523bfdbaf1ad13ff95e258924f77d20b4fbedf'],
    [`${GCC}/libgcc-s1_${GCC_VERSION}`, '3016e62cb4b7cd8038822870601f5ed131befe942774d0f745622cc77d8a88f7'],
    [`${GCC}/libstdc++6_${GCC_VERSION}`, '5cd3171216d4ab0fc911cfe9c35509bf2dd8f47761c43b7f6a4296701551a24d'],
    [`${GCC}/gcc-12-base_${GCC_VERSION}`, '1896a2aacf4ad681ff5eacc24a5b0ca4d5d9c9b9c9e4b6de5197bc1e116ea619'],
  ],
  arm64: [
    [GLIBC, '01f4330719fd4f65580e16ea5a0527f372fca750e8f588d26deaf09f2d3b1cf4'],
    [`${GCC}/libgcc-s1_${GCC_VERSION}`, '576926b283613db80168ddf76380a3bd877602778cf0d226caa7bfbfa71eacf3'],
    [`${GCC}/libstdc++6_${GCC_VERSION}`, '26e138c677a985775331373828a6c286c551ff397cb735d00e2383cb273d1cb2'],
    [`${GCC}/gcc-12-base_${GCC_VERSION}`, '674cf6cba6d432bd200c45fe866c1652c7a53523cc2e7a613e05bc4abf7b5440'],
  ],
}

/** The second one still has a package after Debian has replaced it. */
const MIRRORS = [
  'http://deb.debian.org/debian',
  'https://snapshot.debian.org/archive/debian/20261101T000000Z',
]
/** Libraries, the loader and licences. Converters of character sets take 8 MB, and nothing here uses them. */
const KEPT = /^(lib\/|lib64\/|usr\/lib\/[^/]+\/[^/]+\.so|usr\/share\/doc\/[^/]+\/copyright$)/

/** @param {import('../node-binary.mjs').Arch} arch @returns {Promise<TarEntry[]>} */
export async function libraryFiles(arch) {
  const packages = await Promise.all(
    LIBRARIES[arch].map(([path = '', digest = '']) => download(`${path}_${arch}.deb`, digest)),
  )
  const files = await Promise.all(packages.map(filesOf))
  return files.flat().filter(({ name }) => KEPT.test(name))
}

/** @param {string} path @param {string} digest */
async function download(path, digest) {
  const reasons = []
  for (const mirror of MIRRORS) {
    const url = `${mirror}/${path}`
    try {
      const answer = await fetch(url)
      const bytes = Buffer.from(await answer.arrayBuffer())
      const found = createHash('sha256').update(bytes).digest('hex')
      if (answer.ok && found === digest) return bytes
      reasons.push(`${url}: ${answer.ok ? `has the digest ${found}, not ${digest}` : answer.status}`)
    } catch (error) {
      reasons.push(`${url}: ${error instanceof Error ? error.message : error}`)
    }
  }
  throw new StepError(`a package of Debian cannot be had:\n${reasons.join('\n')}`)
}

/** @param {Buffer} deb */
async function filesOf(deb) {
  const data = membersOf(deb).get('data.tar.xz')
  if (!data) throw new StepError('a package of Debian has no data.tar.xz')
  return tarEntries(await buffer(new XzReadableStream(new Blob([new Uint8Array(data)]).stream())))
}
