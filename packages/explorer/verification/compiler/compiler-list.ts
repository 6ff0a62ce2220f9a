import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { refuseVerification } from '../verification-error.ts'

/** A compiler: the file of its JavaScript build. */
export interface CompilerBuild {
  /** As 0.8.28+commit.7893614a. */
  readonly version: string
  readonly file: string
  /** Hash of the file; undefined: it is the operator's. */
  readonly sha256: string | undefined
}

/** Builds that come with the node, from npm (docs/decisions.md#0030-verification). */
const BUNDLED = [
  ['solc', '0.8.37+commit.f401782d', '221d7a667378b5068d913e75fe092507e061363cd1d23b64c49ae82febabad4c'],
  ['solc-0.8.30', '0.8.30+commit.73712a01', '3bb491a777f76dff9b2fe73ce29ca20e21a971b59a2f2cf8f73415424f00be06'],
  ['solc-0.8.28', '0.8.28+commit.7893614a', '9ef37cc1d2597ed6d2f706a960f449e33eb9eee920936cea77b11e6f43861970'],
] as const

const FILE_NAME = /^soljson-v([0-9]+\.[0-9]+\.[0-9]+\+commit\.[0-9a-f]{8})\.js$/

/** Compilers that sources can be verified with: those from npm, and those of a directory. */
export class CompilerList {
  readonly #builds = new Map<string, CompilerBuild>()
  readonly #checked = new Set<string>()

  /** `directory` holds files named soljson-v0.8.24+commit.e11b9ed9.js; their list.json, when present, has their hashes. */
  constructor(directory?: string) {
    const { resolve } = createRequire(import.meta.url)
    for (const [name, version, sha256] of BUNDLED) {
      const file = undefinedIfMissing(() => resolve(`${name}/soljson.js`))
      if (file !== undefined) this.#builds.set(version, { version, file, sha256 })
    }
    // That it is there is checked at the start of the process; one that went away since has no compilers.
    if (directory === undefined || !existsSync(directory)) return
    const hashes = readCompilerHashes(directory)
    for (const name of readdirSync(directory)) {
      const version = FILE_NAME.exec(name)?.[1]
      if (version === undefined || (hashes !== undefined && !hashes.has(name)) || this.#builds.has(version)) continue
      this.#builds.set(version, { version, file: join(directory, name), sha256: hashes?.get(name) })
    }
  }

  /** Newest first. */
  get versions(): readonly string[] {
    return [...this.#builds.keys()].sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  }

  /** The build of a long version, with or without v; its file has the hash it must have. Throws UNKNOWN_COMPILER. */
  async find(text: string): Promise<CompilerBuild> {
    const version = text.trim().replace(/^v/, '')
    const build = this.#builds.get(version)
    if (build === undefined)
      throw refuseVerification(
        'UNKNOWN_COMPILER',
        `Invalid or not supported solc version ${version.slice(0, 40)}; this explorer has ${this.versions.join(', ')}`,
      )
    if (build.sha256 !== undefined && !this.#checked.has(version)) {
      const found = createHash('sha256')
        .update(await readFile(build.file))
        .digest('hex')
      if (found !== build.sha256)
        throw refuseVerification('UNKNOWN_COMPILER', `the file of solc ${version} has not the hash it must have`)
      this.#checked.add(version)
    }
    return build
  }
}

const undefinedIfMissing = <T>(work: () => T): T | undefined => {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Returns the hashes by file name of list.json, which the compiler's project publishes beside its builds; undefined when absent. */
export const readCompilerHashes = (directory: string): ReadonlyMap<string, string> | undefined => {
  const file = join(directory, 'list.json')
  if (!existsSync(file)) return undefined
  try {
    const { builds = [] } = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly builds?: readonly { readonly path: string; readonly sha256: string }[]
    }
    return new Map(builds.map(({ path, sha256 }) => [path, sha256.replace(/^0x/, '')]))
  } catch (error) {
    throw new Error(`${file} is no list of compilers. Take the one published with the builds, or remove it.`, {
      cause: error,
    })
  }
}
