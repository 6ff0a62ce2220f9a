import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './node-process.ts'

/** Builds the package, which end-to-end tests start unless BUILD names another folder (vitest.config.ts): `BUILD=.` is the source. */
export const setup = (): void => {
  if (process.env['BUILD'] === undefined)
    execFileSync(process.execPath, [join(ROOT, 'scripts', 'build.ts')], { stdio: ['ignore', 'ignore', 'inherit'] })
}
