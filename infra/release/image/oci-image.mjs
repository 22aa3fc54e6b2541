// @ts-check
/**
 * Makes `fantail-image_VERSION_oci.tar`: an OCI image layout with an image for each architecture, without any tool of
 * containers. An image has two layers, Debian's libraries and the server tree, and neither a shell nor a package
 * manager. The same trees, version and time always make the same bytes.
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { entriesOf, tarChunks, withFolders } from '../tar-archive.mjs'
import { HEALTH_CHECK } from './health-check.mjs'

/** @typedef {import('../tar-archive.mjs').TarEntry} TarEntry */
/** @typedef {{ mediaType: string, digest: string, size: number }} Descriptor */

const TYPE = 'application/vnd.oci.image'
/** Nothing in the image belongs to this user. */
const USER = 999
const HOME = 'opt/fantail'
/** The image has neither systemd nor a shell, and the script bin/fantail needs one. */
const LEFT_OUT = /^opt\/fantail\/(systemd|bin\/fantail$)/
const ACCOUNTS = [
  { name: 'etc/passwd', content: `root:x:0:0::/:/\nfantail:x:${USER}:${USER}::/:/\n` },
  { name: 'etc/group', content: `root:x:0:\nfantail:x:${USER}:\n` },
  { name: 'etc/nsswitch.conf', content: 'hosts: files dns\n' },
]

/**
 * Adds one image after the other, so that only one server tree has to be there at a time.
 * @param {{ version: string, commit: string, mtime: number }} release
 */
export function createOciLayout({ version, commit, mtime }) {
  /** @type {Map<string, Buffer>} */
  const blobs = new Map()
  /** @type {(Descriptor & { platform: object })[]} */
  const manifests = []

  /** @param {string} mediaType @param {Buffer} content @returns {Descriptor} */
  function add(mediaType, content) {
    const digest = sha256(content)
    blobs.set(digest, content)
    return { mediaType, digest: `sha256:${digest}`, size: content.length }
  }
  const addJson = (/** @type {string} */ mediaType, /** @type {object} */ value) =>
    add(mediaType, Buffer.from(JSON.stringify(value)))

  /** @param {TarEntry[]} files */
  function addLayer(files) {
    const tar = Buffer.concat([...tarChunks(withFolders(files), mtime)])
    const layer = add(`${TYPE}.layer.v1.tar+gzip`, gzipSync(tar, { level: 9 }))
    return { layer, diffId: `sha256:${sha256(tar)}` }
  }

  /** @param {{ tree: string, arch: string, libraries: TarEntry[] }} image */
  function addImage({ tree, arch, libraries }) {
    const own = entriesOf(tree, HOME).filter(({ name }) => !LEFT_OUT.test(name))
    const layers = [addLayer([...libraries, ...ACCOUNTS]), addLayer(own)]
    const created = new Date(mtime * 1_000).toISOString()
    const config = addJson(`${TYPE}.config.v1+json`, {
      created,
      architecture: arch,
      os: 'linux',
      config: settingsOf(version, commit),
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
      history: [
        { created, created_by: 'libraries of Debian 12' },
        { created, created_by: `fantail ${version}` },
      ],
    })
    const manifest = addJson(`${TYPE}.manifest.v1+json`, {
      schemaVersion: 2,
      mediaType: `${TYPE}.manifest.v1+json`,
      config,
      layers: layers.map(({ layer }) => layer),
    })
    manifests.push({ ...manifest, platform: { architecture: arch, os: 'linux' } })
  }

  /** @param {string} output a folder */
  function write(output) {
    const all = { schemaVersion: 2, mediaType: `${TYPE}.index.v1+json`, manifests }
    const annotations = { 'org.opencontainers.image.ref.name': version }
    const index = { ...all, manifests: [{ ...addJson(`${TYPE}.index.v1+json`, all), annotations }] }
    const files = [
      { name: 'oci-layout', content: '{"imageLayoutVersion":"1.0.0"}' },
      { name: 'index.json', content: JSON.stringify(index) },
      ...[...blobs].map(([digest, content]) => ({ name: `blobs/sha256/${digest}`, content })),
    ]
    const path = join(output, `fantail-image_${version}_oci.tar`)
    writeFileSync(path, Buffer.concat([...tarChunks(withFolders(files), mtime)]))
    return path
  }
  return { addImage, write }
}

/** @param {string} version @param {string} commit */
function settingsOf(version, commit) {
  const node = `/${HOME}/bin/node`
  return {
    User: `${USER}:${USER}`,
    ExposedPorts: { '4100/tcp': {}, '4101/tcp': {}, '4102/tcp': {} },
    Env: [`PATH=/${HOME}/bin`, 'NODE_ENV=production', 'FANTAIL_MODE=server'],
    Entrypoint: [node, `/${HOME}/bin/fantail.mjs`],
    Cmd: ['all'],
    WorkingDir: `/${HOME}`,
    // Docker and Podman run it. Kubernetes has probes of its own.
    Healthcheck: { Test: ['CMD', node, '-e', HEALTH_CHECK], Interval: 5e9, Timeout: 5e9, Retries: 12 },
    Labels: {
      'org.opencontainers.image.title': 'fantail',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': commit,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    },
  }
}

/** @param {Buffer} content */
function sha256(content) {
  return createHash('sha256').update(content).digest('hex')
}
