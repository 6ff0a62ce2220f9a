import packageJson from '../../package.json' with { type: 'json' }

export const version: string = packageJson.version

/** `<client>/<version>/<os>-<arch>/<runtime version>` (docs/interface.md#native-methods). */
export const clientVersion = `tandem/${version}/${process.platform}-${process.arch}/node${process.versions.node}`
