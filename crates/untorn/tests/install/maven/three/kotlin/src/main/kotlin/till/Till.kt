package till

/** Torn: another till can sell while the customer of this one pays. */
class Till {
    @get:Synchronized
    @set:Synchronized
    var left: Int = 2_000

    fun sell(): Boolean {
        val now = left
        if (now == 0) {
            return false
        }
        pay()
        left = now - 1
        return true
    }

    private fun pay() {
        Thread.sleep(1)
    }
}
