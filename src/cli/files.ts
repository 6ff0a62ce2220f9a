import { readFileSync, statSync } from 'node:fs'
import { explainSystem } from './explain.ts'

/** The bytes of a file named by an option, no more than `limit`; a failure says which option. */
export const readBytes = (path: string, option: string, limit: number): Uint8Array => {
  try {
    const { size } = statSync(path)
    if (size > limit) throw new Error(`${path} has ${size} bytes, more than the ${limit} that are taken.`)
    return readFileSync(path)
  } catch (error) {
    throw new Error(`${option}: ${explainSystem(error as Error) ?? (error as Error).message}`, { cause: error })
  }
}
