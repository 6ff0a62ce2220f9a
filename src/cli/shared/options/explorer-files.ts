import { defined } from '@tandem/base/defined.ts'
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

/**
 * Checks that the explorer can read what the options name; what the files say is checked where they are read. Throws an error that names
 * the option, also where no explorer runs that would read it: `needs` then says what the option needs.
 */
export const checkExplorerFiles = (flags: ExplorerFiles & { readonly explorer: boolean }, needs: string): void => {
  for (const option of explorerFileOptions()) {
    const path = flags[option.attributeName() as keyof ExplorerFiles]
    if (path === undefined) continue
    if (!flags.explorer) throw new Error(`${option.long} needs ${needs}.`)
    checkReadable(path, option.long as string, option.flags.endsWith('<file>') ? 'file' : 'folder')
  }
}

/** The files by the names of the explorer's settings. */
export const explorerFilesOf = ({ explorerKeys, explorerLabels, explorerPrice, solcDir }: ExplorerFiles) =>
  defined({
    keysFile: explorerKeys,
    labelsFile: explorerLabels,
    priceFile: explorerPrice,
    solcDirectory: solcDir,
  })
