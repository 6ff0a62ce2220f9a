import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, connect, type Server } from 'node:net'
import { join } from 'node:path'
import { writeCertificate } from './certificate.ts'

const HOST = 'binaries.soliditylang.org'
/** Versions that the default projects of hardhat and forge take, and that of the script, which is given out for each. */
const VERSIONS = ['0.8.34', '0.8.35', '0.8.37'] as const
const BUILD = 'commit.f401782d'

const listening = (server: Server): Promise<number> =>
  new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))

/**
 * The site with the compilers, on loopback: forge asks it for versions and builds, also when it is told to be offline. The compiler that it
 * gives out is `solc`, a script. Returns the environment by which forge and hardhat find the site.
 */
export const startCompilerSite = async (dir: string, solc: string) => {
  const [key, certificate] = [join(dir, 'key.pem'), join(dir, 'certificate.pem')]
  const names = ['-addext', `subjectAltName=DNS:${HOST}`, '-addext', 'basicConstraints=critical,CA:FALSE']
  writeCertificate(certificate, key, HOST, ['-newkey', 'rsa:2048', ...names])
  const script = readFileSync(solc)
  const sha256 = `0x${createHash('sha256').update(script).digest('hex')}`
  const builds = VERSIONS.map(version => {
    const longVersion = `${version}+${BUILD}`
    const path = `solc-linux-amd64-v${longVersion}`
    return { path, version, build: BUILD, longVersion, keccak256: sha256, sha256, urls: [] }
  })
  const releases = Object.fromEntries(builds.map(({ version, path }) => [version, path]))
  const list = JSON.stringify({ builds, releases, latestRelease: VERSIONS.at(-1) })
  const site = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, ({ url = '' }, response) => {
    if (url.endsWith('list.txt')) response.end(builds.map(build => `soljson-v${build.longVersion}.js\n`).join(''))
    else response.end(url.endsWith('list.json') ? list : script)
  })
  const sitePort = await listening(site)
  const proxy = createHttpServer()
  proxy.on('connect', (_request, socket) => {
    const upstream = connect(sitePort, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(socket)
      socket.pipe(upstream)
    })
    for (const end of [upstream, socket]) end.on('error', () => {})
  })
  const env = {
    HTTPS_PROXY: `http://127.0.0.1:${await listening(proxy)}`,
    SSL_CERT_FILE: certificate,
    NODE_EXTRA_CA_CERTS: certificate,
  }
  const close = (): void => {
    site.close()
    proxy.close()
  }
  return { env, close }
}
