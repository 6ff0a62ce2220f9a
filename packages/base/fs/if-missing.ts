/** Handler of a failed read: returns the value where there is no such file or folder, and throws other errors. */
export const ifMissing =
  <Value>(value: Value) =>
  (error: NodeJS.ErrnoException): Value => {
    if (error.code === 'ENOENT') return value
    throw error
  }
