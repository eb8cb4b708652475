import com.sun.jdi.*;
import com.sun.tools.example.debug.expr.ExpressionParser;
import java.util.*;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The values of one paused call, as text. The JDK's own debugger reads expressions. */
final class Values {
    private static final List<String> BOXES = Stream.of("Integer", "Long", "Short", "Byte", "Character", "Boolean",
            "Double", "Float").map("java.lang."::concat).toList();
    private static final int MOST_DEPTH = 4, MOST_PARTS = 20, MOST_TEXT = 4000;

    private final ThreadReference thread;
    private final int depth;
    private final Consumer<Boolean> calling;
    private int length;

    /** `calling` is told while a method of the program is called. */
    Values(ThreadReference thread, int depth, Consumer<Boolean> calling) {
        this.thread = thread;
        this.depth = depth;
        this.calling = calling;
    }

    Map<String, String> locals() throws IncompatibleThreadStateException {
        Map<String, Value> values = new LinkedHashMap<>();
        StackFrame frame = thread.frame(depth);
        try {
            if (frame.thisObject() != null) values.put("this", frame.thisObject());
            for (LocalVariable each : frame.visibleVariables()) values.put(each.name(), frame.getValue(each));
            if (frame.thisObject() != null) // an inner class has copies of what it uses
                for (Field each : frame.location().declaringType().fields())
                    if (each.name().startsWith("val$")) values.put(each.name(), frame.thisObject().getValue(each));
        } catch (AbsentInformationException | NativeMethodException error) {
            return Map.of(); // a library's
        }
        Map<String, String> texts = new LinkedHashMap<>();
        values.forEach((name, value) -> texts.put(name, show(value)));
        return texts;
    }

    Value evaluate(String expression) throws Exception {
        for (String operator : List.of("||", "&&")) { // which the JDK's debugger cannot read
            String[] sides = expression.split(Pattern.quote(operator), 2);
            if (sides.length < 2) continue;
            boolean inText = sides[0].split("\"", -1).length % 2 == 0;
            if (inText || sides[0].replaceAll("[^(]", "").length() != sides[0].replaceAll("[^)]", "").length())
                throw new IllegalArgumentException("it has " + operator + " within parentheses or a text");
            boolean first = ((BooleanValue) evaluate(sides[0])).value(), decides = operator.equals("||");
            return first == decides ? thread.virtualMachine().mirrorOf(first) : evaluate(sides[1]);
        }
        calling.accept(true);
        try {
            return ExpressionParser.evaluate(expression, thread.virtualMachine(), () -> thread.frame(depth));
        } catch (InvocationException error) {
            throw new IllegalArgumentException("it threw " + error.exception().referenceType().name());
        } finally {
            calling.accept(false);
        }
    }

    String show(Value value) {
        length = 0;
        return show(value, MOST_DEPTH);
    }

    private String show(Value value, int parts) {
        String text = textOf(value, parts);
        length += text.length();
        return text;
    }

    private String textOf(Value value, int parts) {
        if (value instanceof StringReference text) return '"' + text.value().replace("\n", "\\n") + '"';
        if (value instanceof CharValue) return "'" + value + "'";
        if (!(value instanceof ObjectReference object)) return String.valueOf(value);
        String type = object.referenceType().name(), name = type.replaceAll("^.*[.$](?=[A-Za-z])", "");
        boolean ends = parts == 0 || length > MOST_TEXT;
        if (object instanceof ArrayReference array)
            return ends ? name.replace("[]", "[" + array.length() + "]") : list(array, parts, "[", "]");
        if (isA(object, "java.lang.Enum")) return ((StringReference) part(object, "name")).value();
        if (BOXES.contains(type)) return textOf(part(object, "value"), 0);
        if (type.startsWith("java.") && !ends) {
            boolean isMap = isA(object, "java.util.Map");
            Value whole = isMap ? call(object, "entrySet") : isA(object, "java.util.Collection") ? object : null;
            if (whole != null && call(whole, "toArray") instanceof ArrayReference array)
                return isMap ? list(array, parts, "{", "}") : list(array, parts, "[", "]");
            if (isA(object, "java.util.Map$Entry"))
                return show(call(object, "getKey"), parts - 1) + ": " + show(call(object, "getValue"), parts - 1);
            if (call(object, "toString") instanceof StringReference text) return text.value();
        }
        if (ends) return name + "{...}";
        StringJoiner fields = new StringJoiner(", ", name + "{", "}");
        for (Field each : object.referenceType().allFields())
            if (!each.isStatic() && !each.isSynthetic())
                fields.add(each.name() + ": " + show(object.getValue(each), parts - 1));
        return fields.toString();
    }

    private String list(ArrayReference array, int parts, String begin, String end) {
        StringJoiner shown = new StringJoiner(", ", begin, end);
        for (int place = 0; place < Math.min(MOST_PARTS, array.length()); place++)
            shown.add(show(array.getValue(place), parts - 1));
        if (array.length() > MOST_PARTS) shown.add("... " + array.length() + " in all");
        return shown.toString();
    }

    private static boolean isA(ObjectReference object, String type) {
        ClassType it = (ClassType) object.referenceType();
        for (ClassType above = it; above != null; above = above.superclass())
            if (above.name().equals(type)) return true;
        return it.allInterfaces().stream().anyMatch(each -> each.name().equals(type));
    }

    private static Value part(ObjectReference object, String field) {
        return object.getValue(object.referenceType().fieldByName(field));
    }

    /** Call a method without arguments; null if it cannot be called, because the program was interrupted. */
    Value call(Value object, String name) {
        calling.accept(true);
        try {
            ObjectReference owner = (ObjectReference) object;
            Method method = owner.referenceType().methodsByName(name).stream()
                    .filter(each -> each.argumentTypeNames().isEmpty()).findFirst().orElseThrow();
            return owner.invokeMethod(thread, method, List.of(), ObjectReference.INVOKE_SINGLE_THREADED);
        } catch (Exception error) {
            return null;
        } finally {
            calling.accept(false);
        }
    }
}
