import { Option } from 'commander'
import { checkReadable } from '../files.ts'

/** Parsed options that name what the explorer reads. */
export interface ExplorerFiles {
  readonly explorerKeys?: string
  readonly explorerLabels?: string
  readonly explorerPrice?: string
  readonly solcDir?: string
}

/** Options of the files that the explorer reads. */
export const explorerFileOptions = (): readonly Option[] => [
  new Option('--explorer-keys <file>', 'API keys of the explorer with ten times the requests, one a line'),
  new Option('--explorer-labels <file>', 'names of addresses in the explorer: JSON, {"0x...": "name"}'),
  new Option(
    '--explorer-price <file>',
    'sources of the price of the native token: an oracle contract, exchanges (JSON)',
  ),
  new Option('--solc-dir <directory>', 'more compilers for verifying contracts: soljson files of other versions'),
]

const OPTIONS = [
  ['--explorer-keys', 'explorerKeys', 'file'],
  ['--explorer-labels', 'explorerLabels', 'file'],
  ['--explorer-price', 'explorerPrice', 'file'],
  ['--solc-dir', 'solcDir', 'folder'],
] as const

/**
 * Checks that the explorer can read what the options name; what the files say is checked where they are read. Throws an error that names
 * the option, also where no explorer runs that would read it: `needs` then says what the option needs.
 */
export const checkExplorerFiles = (flags: ExplorerFiles & { readonly explorer: boolean }, needs: string): void => {
  for (const [option, name, kind] of OPTIONS) {
    const path = flags[name]
    if (path === undefined) continue
    if (!flags.explorer) throw new Error(`${option} needs ${needs}.`)
    checkReadable(path, option, kind)
  }
}
