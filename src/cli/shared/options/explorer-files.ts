import { statSync } from 'node:fs'
import { defined } from '@tandem/base/defined.ts'
import { Option } from 'commander'
import { checkReadable, naming } from '../files.ts'

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

const PROGRAM: string = '@tandem/explorer/service/option-files.ts'

/** Readers of the files, of the program that is not loaded where no option names one. */
interface ExplorerReaders {
  readonly READERS: Readonly<Record<keyof ExplorerFiles, (path: string) => unknown>>
}

/**
 * Reads what the options name as the explorer will, which is a process of its own. Throws an error that names the option, also where no
 * explorer runs that would read it: `needs` then says what the option needs.
 */
export const checkExplorerFiles = async (
  flags: ExplorerFiles & { readonly explorer: boolean },
  needs: string,
): Promise<void> => {
  for (const option of explorerFileOptions()) {
    const name = option.attributeName() as keyof ExplorerFiles
    const path = flags[name]
    if (path === undefined) continue
    const long = option.long as string
    if (!flags.explorer) throw new Error(`${long} needs ${needs}.`)
    const kind = option.flags.endsWith('<file>') ? 'file' : 'folder'
    checkReadable(path, long, kind)
    // A pipe is read once.
    if (kind === 'file' && !statSync(path).isFile()) continue
    const { READERS } = (await import(PROGRAM)) as ExplorerReaders
    naming(long, path, () => READERS[name](path))
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
