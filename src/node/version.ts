import packageJson from '../../package.json' with { type: 'json' }

export const version: string = packageJson.version

/** `<client>/<version>/<os>-<arch>/<runtime version>` (SPEC 4.3). */
export const clientVersion = `tandem/${version}/${process.platform}-${process.arch}/node${process.versions.node}`
