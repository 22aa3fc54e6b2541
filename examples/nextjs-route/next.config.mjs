export default { typescript: { ignoreBuildErrors: false } }
